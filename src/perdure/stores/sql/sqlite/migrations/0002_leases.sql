-- Workers that sweep one file together: who keeps a namespace, until when (by its own clock), and how often the lease
-- has changed hands. A write under an older epoch is refused.
CREATE TABLE lease (
  namespace TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until_ms INTEGER NOT NULL,
  epoch INTEGER NOT NULL
) WITHOUT ROWID;
