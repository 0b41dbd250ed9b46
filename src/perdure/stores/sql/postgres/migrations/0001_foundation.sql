-- The foundation: memories, vectors, words, journal, leases.
--
-- Rules that hold in every store: namespace first in every key; one namespace for each transaction; clock, ids and randomness are
-- parameters; no triggers, no sequences; the hot table holds no text and no vector. Instants are milliseconds since 1970
-- UTC. `row` is a memory's number in its namespace, given out in order and never again; it never leaves the store.
-- Texts compare as bytes, so that every server sorts alike.


CREATE TABLE space (
  number integer PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE,
  model text NOT NULL,
  dimensions integer NOT NULL,
  version text NOT NULL,
  active boolean NOT NULL
);

-- One row per namespace: `version` counts applied plans, `last_row` the memories ever stored; `documents` and `length`
-- are what the ranking of words needs to know of the namespace. Writers of one namespace queue up here.
CREATE TABLE namespace (
  namespace text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  created_ms bigint NOT NULL,
  policy text NOT NULL,
  last_row bigint NOT NULL DEFAULT 0,
  documents bigint NOT NULL DEFAULT 0,
  length bigint NOT NULL DEFAULT 0,
  vectors bigint NOT NULL DEFAULT 0,
  approximate integer NOT NULL DEFAULT 0
);

-- Who keeps a namespace: a worker's name, until when (by its own clock), and how often the lease has changed hands.
CREATE TABLE lease (
  namespace text COLLATE "C" PRIMARY KEY,
  owner text NOT NULL,
  until_ms bigint NOT NULL,
  epoch bigint NOT NULL
);

-- The hot table. Sweeps update it; it is narrow so that this stays cheap.
CREATE TABLE memory (
  namespace text COLLATE "C" NOT NULL,
  row bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  scope text NOT NULL,
  tier text NOT NULL,
  status text NOT NULL,
  pinned boolean NOT NULL,
  importance double precision NOT NULL,
  confidence double precision NOT NULL,
  uniqueness double precision NOT NULL,
  created_ms bigint NOT NULL,
  recorded_ms bigint NOT NULL,
  anchor_ms bigint NOT NULL,
  access_count bigint NOT NULL,
  access_mass double precision NOT NULL,
  tier_accesses bigint NOT NULL,
  accessed_ms bigint,
  access2_ms bigint,
  access3_ms bigint,
  reinforcements bigint NOT NULL,
  boosted double precision NOT NULL,
  boost_day bigint NOT NULL,
  validated_ms bigint,
  tier_ms bigint NOT NULL,
  status_ms bigint NOT NULL,
  due_ms bigint,
  held boolean NOT NULL DEFAULT false,
  session text COLLATE "C",
  turn bigint,
  speaker text,
  asks boolean NOT NULL,
  op text COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, row),
  UNIQUE (namespace, id)
);
CREATE INDEX memory_id ON memory (id);
CREATE INDEX memory_due ON memory (namespace, due_ms, row) WHERE due_ms IS NOT NULL AND NOT held;
CREATE INDEX memory_held ON memory (namespace) WHERE held;
-- Two writers cannot give two messages one place in a session.
CREATE UNIQUE INDEX memory_turn ON memory (namespace, session, turn) WHERE session IS NOT NULL;
CREATE INDEX memory_unfit ON memory (namespace, status) WHERE status <> 'active';

-- Words and provenance; read only for the memories that are shown.
CREATE TABLE content (
  namespace text COLLATE "C" NOT NULL,
  row bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  text text NOT NULL,
  tags text[] NOT NULL,
  source text,
  task text,
  metadata jsonb NOT NULL,
  digest bigint NOT NULL,
  length integer NOT NULL,
  PRIMARY KEY (namespace, row)
);
CREATE INDEX content_digest ON content (namespace, digest);

CREATE TABLE tag (
  namespace text COLLATE "C" NOT NULL,
  tag text COLLATE "C" NOT NULL,
  row bigint NOT NULL,
  PRIMARY KEY (namespace, tag, row)
);

-- Where each stem occurs, a few hundred memories a line: an entry is offset from `first` << 40 | times << 24 | length.
-- Derived data. A GIN index would not do: row-level security keeps its operators from the index (decision 0010).
CREATE TABLE posting (
  namespace text COLLATE "C" NOT NULL,
  term text COLLATE "C" NOT NULL,
  first bigint NOT NULL,
  documents integer NOT NULL,
  entries bigint[] NOT NULL,
  PRIMARY KEY (namespace, term, first)
);

-- One vector for each memory and space, on the grid of int8 that every store keeps: whole numbers from -127 to 127.
CREATE TABLE embedding (
  namespace text COLLATE "C" NOT NULL,
  space integer NOT NULL,
  row bigint NOT NULL,
  data halfvec NOT NULL,
  PRIMARY KEY (namespace, space, row)
);

CREATE TABLE link (
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  other text COLLATE "C" NOT NULL,
  weight double precision NOT NULL,
  PRIMARY KEY (namespace, id, kind, other)
);
CREATE INDEX link_other ON link (namespace, other);

-- Accesses that no sweep has counted in yet.
CREATE TABLE access (
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  at_ms bigint NOT NULL,
  times bigint NOT NULL,
  PRIMARY KEY (namespace, id, at_ms)
);

CREATE TABLE recall_log (
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  at_ms bigint NOT NULL,
  query text NOT NULL,
  hits text[] NOT NULL,
  PRIMARY KEY (namespace, id)
);

CREATE TABLE idempotency (
  namespace text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (namespace, key)
);
CREATE INDEX idempotency_id ON idempotency (namespace, id);

-- `number` is the order in which operations happened in their namespace, whatever clocks said.
CREATE TABLE operation (
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  operation text NOT NULL,
  at_ms bigint NOT NULL,
  changes integer NOT NULL,
  hides integer NOT NULL,
  policy text NOT NULL,
  note text NOT NULL,
  undoes text COLLATE "C",
  PRIMARY KEY (namespace, id),
  UNIQUE (namespace, number)
);
CREATE INDEX operation_id ON operation (id);
CREATE INDEX operation_undoes ON operation (namespace, undoes) WHERE undoes IS NOT NULL;
CREATE INDEX operation_at ON operation (namespace, at_ms);

-- Append-only: what each operation changed, and why. No policy below lets anyone update or delete a line.
CREATE TABLE journal (
  namespace text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  position integer NOT NULL,
  target text NOT NULL,
  id text COLLATE "C" NOT NULL,
  before text,
  after text,
  because text NOT NULL,
  PRIMARY KEY (namespace, operation, position)
);
CREATE INDEX journal_memory ON journal (namespace, id);

-- The second fence: a transaction sees the namespace that it names, and nothing where it names none. Both settings are
-- made with SET LOCAL at the start of each transaction. A fan-out may read what has the connection's prefix.

ALTER TABLE namespace ENABLE ROW LEVEL SECURITY;
ALTER TABLE namespace FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON namespace USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON namespace FOR SELECT USING ({reached});

ALTER TABLE lease ENABLE ROW LEVEL SECURITY;
ALTER TABLE lease FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON lease USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON lease FOR SELECT USING ({reached});

ALTER TABLE memory ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON memory USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON memory FOR SELECT USING ({reached});

ALTER TABLE content ENABLE ROW LEVEL SECURITY;
ALTER TABLE content FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON content USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON content FOR SELECT USING ({reached});

ALTER TABLE tag ENABLE ROW LEVEL SECURITY;
ALTER TABLE tag FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON tag USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON tag FOR SELECT USING ({reached});

ALTER TABLE posting ENABLE ROW LEVEL SECURITY;
ALTER TABLE posting FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON posting USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON posting FOR SELECT USING ({reached});

ALTER TABLE embedding ENABLE ROW LEVEL SECURITY;
ALTER TABLE embedding FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON embedding USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON embedding FOR SELECT USING ({reached});

ALTER TABLE link ENABLE ROW LEVEL SECURITY;
ALTER TABLE link FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON link USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON link FOR SELECT USING ({reached});

ALTER TABLE access ENABLE ROW LEVEL SECURITY;
ALTER TABLE access FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON access USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON access FOR SELECT USING ({reached});

ALTER TABLE recall_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE recall_log FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON recall_log USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON recall_log FOR SELECT USING ({reached});

ALTER TABLE idempotency ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON idempotency USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON idempotency FOR SELECT USING ({reached});

ALTER TABLE operation ENABLE ROW LEVEL SECURITY;
ALTER TABLE operation FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON operation USING ({own}) WITH CHECK ({own});
CREATE POLICY fan_out ON operation FOR SELECT USING ({reached});

ALTER TABLE journal ENABLE ROW LEVEL SECURITY;
ALTER TABLE journal FORCE ROW LEVEL SECURITY;
CREATE POLICY one_namespace ON journal FOR SELECT USING ({own});
CREATE POLICY appended ON journal FOR INSERT WITH CHECK ({own});
CREATE POLICY fan_out ON journal FOR SELECT USING ({reached});
