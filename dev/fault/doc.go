// Package fault puts a proxy between Hermes and a tool that does wrong what it is told to: it refuses, delays, hangs,
// alters, repeats. It is how dialogue scripts and tests give a tool a bad day without touching the tool. It may be
// imported by dev and by tests only.
package fault
