package ocr

import "encoding/json"

// inputSchema describes the arguments of read. A batch is bounded by what can be read within the time of a call.
var inputSchema = json.RawMessage(`{
  "type": "object",
  "required": ["documents"],
  "properties": {
    "documents": {
      "type": "array", "minItems": 1, "maxItems": 20,
      "items": {
        "type": "object",
        "required": ["name", "uri"],
        "properties": {
          "name": {"type": "string"},
          "media_type": {"type": "string"},
          "uri": {"type": "string", "pattern": "^blob:sha256/[0-9a-f]{64}$"},
          "sha256": {"type": "string"},
          "size": {"type": "integer"}
        }
      }
    }
  }
}`)

// outputSchema describes what read answers.
var outputSchema = json.RawMessage(`{
  "type": "object",
  "required": ["invoices", "itineraries", "unreadable"],
  "properties": {
    "invoices": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["id", "file", "region", "amount", "confidence", "fields"],
        "properties": {
          "id": {"type": "string", "minLength": 1},
          "file": {"type": "string"},
          "region": {
            "type": "object",
            "required": ["x", "y", "width", "height"],
            "properties": {
              "x": {"type": "integer"}, "y": {"type": "integer"},
              "width": {"type": "integer"}, "height": {"type": "integer"}
            }
          },
          "merchant": {"type": "string"},
          "item": {"type": "string"},
          "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
          "amount": {"type": "string", "pattern": "^[0-9]+\\.[0-9]{2}$"},
          "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
          "confidence": {"type": "number", "minimum": 0, "maximum": 1},
          "fields": {"type": "object", "additionalProperties": {
            "type": "object",
            "required": ["confidence"],
            "properties": {
              "value": {"type": "string"}, "confidence": {"type": "number", "minimum": 0, "maximum": 1}
            }
          }}
        }
      }
    },
    "itineraries": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["file", "dates", "confidence", "fields"],
        "properties": {
          "file": {"type": "string"},
          "city": {"type": "string"},
          "dates": {
            "type": "object",
            "required": ["start", "end"],
            "properties": {
              "start": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
              "end": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
            }
          },
          "confidence": {"type": "number", "minimum": 0, "maximum": 1},
          "fields": {"type": "object", "additionalProperties": {
            "type": "object",
            "required": ["confidence"],
            "properties": {
              "value": {"type": "string"}, "confidence": {"type": "number", "minimum": 0, "maximum": 1}
            }
          }}
        }
      }
    },
    "unreadable": {
      "type": "array",
      "items": {
        "type": "object",
        "required": ["file", "reason"],
        "properties": {"file": {"type": "string"}, "reason": {"type": "string", "minLength": 1}}
      }
    }
  }
}`)
