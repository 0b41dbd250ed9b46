-- Tokens of the service: who may do what, and where. The token itself is not kept, only its SHA-256. An operation says who asked for it.

CREATE TABLE token (
  id TEXT PRIMARY KEY NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  place TEXT NOT NULL,
  role TEXT NOT NULL,
  pattern TEXT NOT NULL,
  actor TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER,
  used_ms INTEGER
);

ALTER TABLE operation ADD COLUMN actor TEXT;
