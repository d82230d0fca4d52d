module fingerpost/interop/bench

go 1.26
