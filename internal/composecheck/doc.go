// Package composecheck tests docker-compose.yml, the Dockerfile and the Temporal setup script against the code: they
// are read with the parser that Docker Compose uses, and what they tell our programs goes through the programs' own
// configuration. It has no code but tests; they import conversation, internal/config, tool and the example's tools.
package composecheck
