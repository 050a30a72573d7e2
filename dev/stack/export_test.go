package stack

// FreePort is freePort, for tests that give ports.
var FreePort = freePort
