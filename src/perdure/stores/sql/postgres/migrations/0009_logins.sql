-- Sessions of the page, so that they outlive a restart: a salted hash of the secret in the browser's cookie, the token
-- that it stands for, and when it ends. And MEMORY.md finds its candidates by an index, questions
-- the facts that age, and lists the newest memories.

CREATE TABLE login (
  name text COLLATE "C" PRIMARY KEY,
  place text COLLATE "C" NOT NULL,
  salt text NOT NULL,
  hash text NOT NULL,
  token text COLLATE "C" NOT NULL,
  ends_ms bigint NOT NULL
);

CREATE INDEX memory_in_view ON memory (
  namespace, pinned DESC, (CASE tier WHEN 'hot' THEN 0 WHEN 'vault' THEN 0 WHEN 'warm' THEN 1 ELSE 2 END),
  anchor_ms DESC, row
) WHERE status = 'active';
CREATE INDEX memory_facts ON memory (namespace, (coalesce(validated_ms, created_ms)), id) WHERE kind = 'fact' AND status = 'active';
CREATE INDEX memory_newest ON memory (namespace, created_ms) WHERE status = 'active';
