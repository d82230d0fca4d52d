// Package auth tells who a caller is and what that principal may do: tokens, names
// with passwords, client certificates and the sessions of browsers.
//
// Secrets are compared in constant time and kept as hashes. Files are read again when
// they change; one that cannot be read leaves the last good content in force. Nothing
// here speaks HTTP: the face that does hands over what it found in a request.
package auth
