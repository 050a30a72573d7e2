// Package server is for those who write a tool in Go: it speaks the tool side of the protocol (docs/tools.md), so that
// a tool is a list of operations, each with two JSON Schemas and a function. It validates arguments and outputs, signs
// every answer including errors, answers later where it is asked to, measures itself for /health and describes itself
// in /schema. It imports conversation, tool and libraries; tools import it, nothing in Hermes does.
package server
