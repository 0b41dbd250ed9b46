-- What a memory costs to keep. A line of the journal names its operation by number, its memory by 16 bytes, and holds its
-- images and its reason packed (stores/sqlite/lines.py has the functions). An idempotency key names its memory's row.
-- A memory is found by its whole id through the index of short ones.

CREATE TABLE packed_journal (
  namespace TEXT NOT NULL,
  operation INTEGER NOT NULL,
  position INTEGER NOT NULL,
  target TEXT NOT NULL,
  id BLOB NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (namespace, operation, position)
) WITHOUT ROWID;

-- Lines without an operation are damage: they are kept, below all numbers, so that a check goes on finding them.
INSERT INTO packed_journal (namespace, operation, position, target, id, data)
SELECT j.namespace, coalesce(o.number, l.number), j.position, j.target, packed_id(j.id),
  packed_line(j.operation, CAST(j.before AS BLOB), CAST(j.after AS BLOB), CAST(j.because AS BLOB))
FROM journal AS j LEFT JOIN operation AS o ON o.namespace = j.namespace AND o.id = j.operation
LEFT JOIN (
  SELECT w.namespace, w.operation, -row_number() OVER (ORDER BY w.namespace, w.operation) AS number
  FROM (SELECT DISTINCT n.namespace, n.operation FROM journal AS n WHERE NOT EXISTS (
    SELECT 1 FROM operation AS p WHERE p.namespace = n.namespace AND p.id = n.operation)) AS w
) AS l ON l.namespace = j.namespace AND l.operation = j.operation
ORDER BY 1, 2, 3;

DROP TABLE journal;
ALTER TABLE packed_journal RENAME TO journal;
CREATE INDEX journal_memory ON journal (namespace, id);

DROP INDEX memory_id;

CREATE TABLE short_idempotency (
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
-- A key without a memory is damage: it is kept, without a row that there is.
INSERT INTO short_idempotency (namespace, key, row)
SELECT i.namespace, i.key, coalesce(m.row, 0)
FROM idempotency AS i LEFT JOIN memory AS m ON m.namespace = i.namespace AND m.id = i.id;
DROP TABLE idempotency;
ALTER TABLE short_idempotency RENAME TO idempotency;
CREATE INDEX idempotency_row ON idempotency (namespace, row);
