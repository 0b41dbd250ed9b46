-- Sessions of the page, so that they outlive a restart: a salted hash of the secret in the browser's cookie, the token
-- that it stands for, and when it ends. And MEMORY.md finds its candidates by an index, questions
-- the facts that age, and lists the newest memories.

CREATE TABLE login (
  name TEXT PRIMARY KEY NOT NULL,
  place TEXT NOT NULL,
  salt TEXT NOT NULL,
  hash TEXT NOT NULL,
  token TEXT NOT NULL,
  ends_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX memory_in_view ON memory (
  namespace, pinned DESC, (CASE tier WHEN 'hot' THEN 0 WHEN 'vault' THEN 0 WHEN 'warm' THEN 1 ELSE 2 END),
  anchor_ms DESC, row
) WHERE status = 'active';
CREATE INDEX memory_facts ON memory (namespace, coalesce(validated_ms, created_ms), id) WHERE kind = 'fact' AND status = 'active';
CREATE INDEX memory_newest ON memory (namespace, created_ms) WHERE status = 'active';
