// Package schema checks JSON values against JSON Schemas and translates between JSON Schema, in which those who write
// tools describe their operations, and the schema objects of OpenAPI 3.0, which /schema serves (SPEC T1). It imports
// libraries only; the packages tool and tool/server use it.
package schema
