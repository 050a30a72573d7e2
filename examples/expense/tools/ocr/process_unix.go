//go:build unix

package ocr

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the command into a process group of its own and kills that whole group on cancellation: a wrapper
// script would otherwise leave tesseract running.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
