-- Long-term memory (SPEC M3). Times are Unix milliseconds, trust is memory.Trust.Rank.

CREATE TABLE entity (
  entity_key  INTEGER PRIMARY KEY,
  type        TEXT NOT NULL,
  id          TEXT NOT NULL,
  name        TEXT NOT NULL,
  trust       INTEGER NOT NULL,
  verified_by TEXT NOT NULL,
  verified_at INTEGER NOT NULL,
  UNIQUE (type, id)
) STRICT;

CREATE TABLE relation (
  relation_key INTEGER PRIMARY KEY,
  from_key     INTEGER NOT NULL REFERENCES entity (entity_key),
  type         TEXT NOT NULL,
  to_key       INTEGER NOT NULL REFERENCES entity (entity_key),
  trust        INTEGER NOT NULL,
  verified_by  TEXT NOT NULL,
  verified_at  INTEGER NOT NULL,
  recorded_at  INTEGER NOT NULL,
  message_id   TEXT NOT NULL,
  proof        TEXT NOT NULL,
  proof_digest TEXT NOT NULL,
  UNIQUE (from_key, type, to_key)
) STRICT;

CREATE INDEX relation_to ON relation (to_key);

-- Who asserted a relation, and so who may read it. verified_at repeats that of the relation, so that the newest of an
-- owner's many relations are found without sorting all of them.
CREATE TABLE ownership (
  owner        TEXT NOT NULL,
  relation_key INTEGER NOT NULL REFERENCES relation (relation_key),
  verified_at  INTEGER NOT NULL,
  PRIMARY KEY (owner, relation_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX ownership_newest ON ownership (owner, verified_at DESC);

CREATE INDEX ownership_relation ON ownership (relation_key);
