-- The whole lifecycle: strength, forms, and documents beside memories.

ALTER TABLE memory
  ADD COLUMN strength double precision NOT NULL DEFAULT 0.3,
  ADD COLUMN level double precision NOT NULL DEFAULT 0,
  ADD COLUMN strength_ms bigint NOT NULL DEFAULT 0,
  ADD COLUMN stability double precision NOT NULL DEFAULT 2.3065,
  ADD COLUMN difficulty double precision NOT NULL DEFAULT 2.118103970459016,
  ADD COLUMN form text NOT NULL DEFAULT 'full',
  ADD COLUMN form_ms bigint NOT NULL DEFAULT 0,
  ADD COLUMN firm boolean NOT NULL DEFAULT false,
  ADD COLUMN tokens bigint NOT NULL DEFAULT 0,
  ADD COLUMN decayed double precision,
  ADD COLUMN decayed_ms bigint;

-- What recall shows where that is not the whole text; `packed` then holds the whole text as zstd, if that is smaller.
ALTER TABLE content ADD COLUMN shown text, ADD COLUMN packed bytea;
CREATE INDEX content_task ON content (namespace, task) WHERE task IS NOT NULL;

-- The owner sees every row only while row-level security is not forced on it.
ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
ALTER TABLE content NO FORCE ROW LEVEL SECURITY;
UPDATE memory AS m SET strength_ms = m.anchor_ms, form_ms = m.created_ms, tokens = (length(c.text) + 3) / 4
FROM content AS c WHERE c.namespace = m.namespace AND c.row = m.row;
ALTER TABLE memory FORCE ROW LEVEL SECURITY;
ALTER TABLE content FORCE ROW LEVEL SECURITY;

CREATE TABLE document (
  namespace text COLLATE "C" NOT NULL,
  shelf text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  data text NOT NULL,
  PRIMARY KEY (namespace, shelf, id, name)
);
CREATE INDEX document_name ON document (namespace, shelf, name);
CREATE INDEX document_id ON document (namespace, id);

ALTER TABLE document ENABLE ROW LEVEL SECURITY;
ALTER TABLE document FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON document USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON document FOR SELECT USING ({reached});
