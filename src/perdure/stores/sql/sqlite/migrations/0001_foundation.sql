-- The foundation: memories, vectors, words, journal.
--
-- Rules that hold in every store: namespace first in every key; one namespace for each transaction; clock,
-- ids and randomness are parameters; no triggers; the hot table holds no text and no vector.
-- Instants are milliseconds since 1970 UTC. `row` is the physical address in this file (FTS5 and the code index need a
-- stable integer); it never leaves the store and identity is always (namespace, id).

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- One row per namespace: the version counts applied plans and is the change feed of the caches.
CREATE TABLE namespace (
  namespace TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  policy TEXT NOT NULL,
  vectors INTEGER NOT NULL DEFAULT 0,
  packed INTEGER NOT NULL DEFAULT 0,
  recalls INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- The hot table. Accesses and sweeps update it; it is narrow so that this stays cheap.
CREATE TABLE memory (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  scope TEXT NOT NULL,
  tier TEXT NOT NULL,
  status TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  importance REAL NOT NULL,
  confidence REAL NOT NULL,
  uniqueness REAL NOT NULL,
  created_ms INTEGER NOT NULL,
  recorded_ms INTEGER NOT NULL,
  anchor_ms INTEGER NOT NULL,
  access_count INTEGER NOT NULL,
  access_mass REAL NOT NULL,
  tier_accesses INTEGER NOT NULL,
  accessed_ms INTEGER,
  access2_ms INTEGER,
  access3_ms INTEGER,
  reinforcements INTEGER NOT NULL,
  boosted REAL NOT NULL,
  boost_day INTEGER NOT NULL,
  validated_ms INTEGER,
  tier_ms INTEGER NOT NULL,
  status_ms INTEGER NOT NULL,
  due_ms INTEGER,
  held INTEGER NOT NULL DEFAULT 0,
  session TEXT,
  turn INTEGER,
  speaker TEXT,
  asks INTEGER NOT NULL,
  op TEXT NOT NULL,
  -- Namespace version of the last update that searches must know of (status, scope); 0 since it was stored.
  changed INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX memory_identity ON memory (namespace, id);
CREATE INDEX memory_id ON memory (id);
CREATE INDEX memory_due ON memory (namespace, held, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX memory_changed ON memory (namespace, changed) WHERE changed > 0;
-- Two writers cannot give two messages one place in a session.
CREATE UNIQUE INDEX memory_turn ON memory (namespace, session, turn) WHERE session IS NOT NULL;
CREATE INDEX memory_unfit ON memory (namespace, status) WHERE status <> 'active';

-- Words and provenance; read only for the memories that are shown.
CREATE TABLE content (
  row INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  text TEXT NOT NULL,
  tags TEXT NOT NULL,
  source TEXT,
  task TEXT,
  metadata TEXT NOT NULL,
  digest INTEGER NOT NULL
);
CREATE INDEX content_digest ON content (namespace, digest);

CREATE TABLE tag (
  namespace TEXT NOT NULL,
  tag TEXT NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (namespace, tag, row)
) WITHOUT ROWID;

-- Words for searching. `place` holds one token made of the namespace, so that a small namespace is found inside a
-- large store. No text is kept here twice: contentless.
CREATE VIRTUAL TABLE words USING fts5 (
  text, place,
  content = '', contentless_delete = 1,
  tokenize = "porter unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab ('words', 'row');

CREATE TABLE space (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  model TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  version TEXT NOT NULL,
  active INTEGER NOT NULL
);

-- One int8 vector for each memory and space; `seq` is the namespace version that brought it.
CREATE TABLE vector (
  namespace TEXT NOT NULL,
  space INTEGER NOT NULL,
  row INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (namespace, space, row)
) WITHOUT ROWID;
CREATE INDEX vector_seq ON vector (namespace, space, seq);

-- Memories that were taken back or erased: the change feed's list of the gone.
CREATE TABLE gone (
  namespace TEXT NOT NULL,
  seq INTEGER NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (namespace, seq, row)
) WITHOUT ROWID;

-- Packed codes of 4,096 vectors or more each: a new process reads these instead of the vectors. Derived data: may be dropped.
CREATE TABLE segment (
  namespace TEXT NOT NULL,
  space INTEGER NOT NULL,
  number INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  version INTEGER NOT NULL,
  rows BLOB NOT NULL,
  codes BLOB NOT NULL,
  attributes BLOB NOT NULL,
  cells BLOB,
  PRIMARY KEY (namespace, space, number)
) WITHOUT ROWID;

-- Centroids of the search cells of a large namespace. Derived data.
CREATE TABLE cell_map (
  namespace TEXT NOT NULL,
  space INTEGER NOT NULL,
  vectors INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (namespace, space)
) WITHOUT ROWID;

CREATE TABLE link (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  other TEXT NOT NULL,
  weight REAL NOT NULL,
  PRIMARY KEY (namespace, id, kind, other)
) WITHOUT ROWID;
CREATE INDEX link_other ON link (namespace, other);

-- Accesses that no sweep has counted in yet.
CREATE TABLE access (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  times INTEGER NOT NULL,
  PRIMARY KEY (namespace, id, at_ms)
) WITHOUT ROWID;

CREATE TABLE recall_log (
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  query TEXT NOT NULL,
  hits TEXT NOT NULL,
  PRIMARY KEY (namespace, id)
) WITHOUT ROWID;

CREATE TABLE idempotency (
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_id ON idempotency (namespace, id);

-- `number` is the order in which operations happened in this file, whatever clocks said.
CREATE TABLE operation (
  number INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  operation TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  changes INTEGER NOT NULL,
  hides INTEGER NOT NULL,
  policy TEXT NOT NULL,
  note TEXT NOT NULL,
  undoes TEXT
);
CREATE UNIQUE INDEX operation_identity ON operation (namespace, id);
CREATE INDEX operation_id ON operation (id);
CREATE INDEX operation_undoes ON operation (namespace, undoes) WHERE undoes IS NOT NULL;
CREATE INDEX operation_at ON operation (namespace, at_ms);

-- Append-only: what each operation changed, and why.
CREATE TABLE journal (
  namespace TEXT NOT NULL,
  operation TEXT NOT NULL,
  position INTEGER NOT NULL,
  target TEXT NOT NULL,
  id TEXT NOT NULL,
  before TEXT,
  after TEXT,
  because TEXT NOT NULL,
  PRIMARY KEY (namespace, operation, position)
) WITHOUT ROWID;
CREATE INDEX journal_memory ON journal (namespace, id);
