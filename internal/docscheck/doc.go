// Package docscheck tests the Markdown pages of the repository: links lead somewhere, commands exist, diagrams are
// closed. It has no code but tests and imports nothing of Hermes.
package docscheck
