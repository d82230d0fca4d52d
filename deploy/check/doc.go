// Package check holds the files under deploy against the programs that read them: the
// manifests against the types of Kubernetes, the compose file against its specification,
// a bill of materials against CycloneDX. It is a module of its own, because these types
// are many times the size of the server.
package check
