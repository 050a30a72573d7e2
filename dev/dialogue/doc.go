// Package dialogue runs scripted conversations (docs/dialogues.md): YAML files that say what a user says, sends,
// chooses and waits for, what a tool does wrong, and what must come of it. It talks to a running front door over
// HTTP and reads everything else back from Temporal's history and the conversation's queries: a script has no way to
// tell Hermes what to answer. It may be imported by dev and by tests only.
package dialogue
