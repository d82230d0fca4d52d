// Package convert turns what the registry knows into what the API says. Both faces
// that speak the API use it, so that they say the same of the same thing.
package convert
