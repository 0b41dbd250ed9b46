-- The newest operations of a namespace are found along an index, which ends with their numbers; all of the namespace were
-- sorted. And memories are counted as vectors are, so that two counts tell that no memory lacks a vector.

CREATE INDEX operation_order ON operation (namespace);

ALTER TABLE namespace ADD COLUMN documents INTEGER NOT NULL DEFAULT 0;
UPDATE namespace SET documents = (SELECT count(*) FROM memory AS m WHERE m.namespace = namespace.namespace);
