module fingerpost/interop/nsdiff

go 1.26
