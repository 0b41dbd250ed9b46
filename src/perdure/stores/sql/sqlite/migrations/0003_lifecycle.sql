-- The whole lifecycle: strength, forms, and documents beside memories.

ALTER TABLE memory ADD COLUMN strength REAL NOT NULL DEFAULT 0.3;
ALTER TABLE memory ADD COLUMN level REAL NOT NULL DEFAULT 0.0;
ALTER TABLE memory ADD COLUMN strength_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN stability REAL NOT NULL DEFAULT 2.3065;
ALTER TABLE memory ADD COLUMN difficulty REAL NOT NULL DEFAULT 2.118103970459016;
ALTER TABLE memory ADD COLUMN form TEXT NOT NULL DEFAULT 'full';
ALTER TABLE memory ADD COLUMN form_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN firm INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory ADD COLUMN decayed REAL;
ALTER TABLE memory ADD COLUMN decayed_ms INTEGER;

-- What recall shows where that is not the whole text; `packed` then holds the whole text as zstd, if that is smaller.
ALTER TABLE content ADD COLUMN shown TEXT;
ALTER TABLE content ADD COLUMN packed BLOB;
CREATE INDEX content_task ON content (namespace, task) WHERE task IS NOT NULL;

-- Ages started at the anchor; about four letters are a token.
UPDATE memory SET strength_ms = anchor_ms, form_ms = created_ms,
  tokens = (SELECT (length(c.text) + 3) / 4 FROM content AS c WHERE c.namespace = memory.namespace AND c.row = memory.row);

CREATE TABLE document (
  namespace TEXT NOT NULL,
  shelf TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (namespace, shelf, id, name)
) WITHOUT ROWID;
CREATE INDEX document_name ON document (namespace, shelf, name);
CREATE INDEX document_id ON document (namespace, id);
