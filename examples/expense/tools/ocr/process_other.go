//go:build !unix

package ocr

import "os/exec"

// ownGroup leaves the command as it is: there are no process groups, and the default cancellation kills the process.
func ownGroup(*exec.Cmd) {}
