-- Tokens of the service: who may do what, and where. The token itself is not kept, only its SHA-256. `place` is the
-- prefix of the connections that made it: others neither see nor accept it. An operation says who asked for it.

CREATE TABLE token (
  id text COLLATE "C" PRIMARY KEY,
  hash text COLLATE "C" NOT NULL UNIQUE,
  place text COLLATE "C" NOT NULL,
  role text NOT NULL,
  pattern text COLLATE "C" NOT NULL,
  actor text NOT NULL,
  created_ms bigint NOT NULL,
  expires_ms bigint,
  revoked_ms bigint,
  used_ms bigint
);

ALTER TABLE operation ADD COLUMN actor text;
