-- SQLite's own statements, by name; the others are in ../common.sql, which says what `kind` means. Lists are bound as JSON
-- text. Only statements that run once for each of many rows bind by position: names would cost them time. See
-- stores/statements.py for slots.
-- CROSS JOIN fixes the order of the loops: from the short list to the rows, whatever the planner thinks of the list.
-- NOT INDEXED makes it look rows up by their address: else it reads a whole namespace through an index.
-- likelihood() makes it use the index of ids: else it reads all that a namespace has in the order of the primary key.

-- name: schema_size
-- kind: admin
SELECT count(*) FROM sqlite_schema;

-- name: unused_bytes
-- kind: admin
SELECT coalesce(sum(unused), 0) FROM dbstat WHERE aggregate = TRUE;

-- name: bump_version
-- kind: routed
INSERT INTO namespace (namespace, version, created_ms, policy, vectors, documents)
VALUES (:namespace, 1, :at, :policy, :vectors, :documents)
ON CONFLICT (namespace) DO UPDATE SET
  version = version + 1, vectors = vectors + excluded.vectors, documents = documents + excluded.documents
RETURNING version, vectors - packed;

-- name: count_packed
-- kind: routed
UPDATE namespace SET packed = packed + :more WHERE namespace = :namespace;

-- name: next_row
-- kind: admin
SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'memory';

-- name: insert_memory
-- kind: routed
INSERT INTO memory (namespace, row, id, {after:COLUMN, }asks) VALUES (?, ?, ?, {after:?, }?);

-- name: duplicate
-- kind: routed
SELECT m.id FROM content AS c JOIN memory AS m ON m.namespace = c.namespace AND m.row = c.row
WHERE c.namespace = :namespace AND c.digest = :digest AND c.task IS :task AND c.text = :text AND m.kind = :kind
  AND m.session IS :session AND m.speaker IS :speaker AND m.status IN ('active', 'archived') AND m.op <> :op;

-- name: insert_content
-- kind: routed
INSERT INTO content (namespace, row, id, text, tags, source, task, metadata, shown, packed, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_words
-- kind: admin
INSERT INTO words (rowid, text, place) VALUES (?, ?, ?);

-- name: insert_tag
-- kind: routed
INSERT INTO tag (namespace, tag, row) VALUES (?, ?, ?);

-- name: delete_memory
-- kind: routed
DELETE FROM memory WHERE namespace = :namespace AND row = :row AND op = :op;

-- name: delete_content
-- kind: routed
DELETE FROM content WHERE namespace = :namespace AND row = :row;

-- name: delete_accesses
-- kind: routed
DELETE FROM access WHERE namespace = :namespace AND id = :id;

-- name: delete_words
-- kind: admin
DELETE FROM words WHERE rowid = :row;

-- name: delete_tags
-- kind: routed
DELETE FROM tag WHERE namespace = :namespace AND tag = :tag AND row = :row;

-- name: insert_gone
-- kind: routed
INSERT INTO gone (namespace, seq, row) VALUES (:namespace, :seq, :row);

-- name: row_of
-- kind: routed
SELECT row FROM memory WHERE namespace = :namespace AND id = :id;

-- name: ops_of
-- kind: routed
SELECT m.id, m.op FROM json_each(:ids) AS i CROSS JOIN memory AS m ON m.namespace = :namespace AND m.id = i.value;

-- name: update_memory
-- kind: routed
UPDATE memory SET {sets:COLUMN = :after_COLUMN}
WHERE namespace = :namespace AND id = :id AND {tests:COLUMN IS :before_COLUMN};

-- name: set_changed
-- kind: part
changed = :version;

-- So that searches hear of a vector that was taken back.
-- name: mark_changed
-- kind: routed
UPDATE memory SET changed = :version WHERE namespace = :namespace AND row = :row;

-- name: update_content
-- kind: routed
UPDATE content SET {sets:COLUMN = :after_COLUMN} WHERE namespace = :namespace AND row = :row;

-- name: content_text
-- kind: routed
SELECT text, packed FROM content WHERE namespace = :namespace AND row = :row;

-- name: insert_vector
-- kind: routed
INSERT INTO vector (namespace, space, row, seq, data) VALUES (?, ?, ?, ?, ?);

-- name: delete_vector
-- kind: routed
DELETE FROM vector WHERE namespace = :namespace AND space = :space AND row = :row;

-- Of every space: by the row alone all vectors of the namespace would be read.
-- name: delete_vectors
-- kind: routed
DELETE FROM vector WHERE namespace = :namespace AND space IN (SELECT number FROM space) AND row = :row;

-- name: insert_link
-- kind: routed
INSERT INTO link (namespace, id, kind, other, weight) VALUES (:namespace, :id, :kind, :other, :weight)
ON CONFLICT DO NOTHING;

-- name: delete_link
-- kind: routed
DELETE FROM link WHERE namespace = :namespace AND id = :id AND kind = :kind AND other = :other;

-- name: insert_access
-- kind: routed
INSERT INTO access (namespace, id, at_ms, times)
SELECT m.namespace, m.id, :at_ms, :times FROM memory AS m WHERE m.namespace = :namespace AND m.id = :id
ON CONFLICT (namespace, id, at_ms) DO UPDATE SET times = times + excluded.times;

-- name: delete_access
-- kind: routed
DELETE FROM access WHERE namespace = :namespace AND id = :id AND at_ms = :at_ms AND times = :times;

-- name: insert_recall
-- kind: routed
INSERT INTO recall_log (namespace, id, at_ms, query, hits)
VALUES (:namespace, :id, :at_ms, :query, :hits);

-- name: count_recall
-- kind: routed
UPDATE namespace SET recalls = recalls + 1 WHERE namespace = :namespace RETURNING recalls;

-- name: trim_recalls
-- kind: routed
DELETE FROM recall_log WHERE namespace = :namespace AND id IN (
  SELECT id FROM recall_log WHERE namespace = :namespace ORDER BY id LIMIT :many);

-- name: uncount_recalls
-- kind: routed
UPDATE namespace SET recalls = recalls - :many WHERE namespace = :namespace;

-- name: insert_key
-- kind: routed
INSERT INTO idempotency (namespace, packed, row) VALUES (?, packed_key(?), ?);

-- name: delete_key
-- kind: routed
DELETE FROM idempotency WHERE namespace = :namespace AND packed = packed_key(:key) AND row = :row;

-- name: keys_of
-- kind: routed
SELECT m.id, min(plain_key(k.packed)) FROM json_each(:ids) AS i CROSS JOIN memory AS m ON m.namespace = :namespace AND m.id = i.value
  CROSS JOIN idempotency AS k ON k.namespace = m.namespace AND k.row = m.row GROUP BY m.id;

-- name: insert_journal
-- kind: routed
INSERT INTO journal (namespace, operation, position, target, id, data) VALUES (?, ?, ?, ?, ?, ?);

-- name: records
-- kind: routed
SELECT m.id, m.op, m.session, m.turn, m.speaker, {state},
  c.text, c.tags, c.source, c.task, c.metadata, c.shown, c.packed, c.digest
FROM json_each(:ids) AS i CROSS JOIN memory AS m ON m.namespace = :namespace AND m.id = i.value
  CROSS JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row;

-- name: glances
-- kind: routed
SELECT m.id, m.kind, m.scope, m.status, m.session, m.created_ms, c.text, c.packed
FROM json_each(:ids) AS i CROSS JOIN memory AS m ON m.namespace = :namespace AND m.id = i.value
  CROSS JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row;

-- name: states
-- kind: routed
SELECT m.id, m.op, {state}
FROM json_each(:ids) AS i CROSS JOIN memory AS m ON m.namespace = :namespace AND m.id = i.value;

-- name: vectors_of
-- kind: routed
SELECT m.id, v.data
FROM json_each(:ids) AS i CROSS JOIN memory AS m ON m.namespace = :namespace AND m.id = i.value
  CROSS JOIN vector AS v ON v.namespace = m.namespace AND v.row = m.row
    AND v.space = (SELECT number FROM space WHERE active);

-- name: locate
-- kind: fan-out
SELECT namespace FROM memory WHERE short_id = substr(:id, -8) AND id = :id ORDER BY namespace;

-- name: find_ids
-- kind: fan-out
SELECT m.id FROM namespace AS n CROSS JOIN memory AS m ON m.namespace = n.namespace AND m.id >= :lowest AND m.id < :beyond
ORDER BY m.id LIMIT :limit;

-- Without the name of the index it reads the whole namespace.
-- name: find_short_ids_of
-- kind: routed
SELECT id FROM memory INDEXED BY memory_short_id
WHERE namespace = :namespace AND short_id >= :lowest AND short_id < :beyond ORDER BY short_id, id LIMIT :limit;

-- name: find_short_operations_of
-- kind: routed
SELECT id FROM operation INDEXED BY operation_short_id
WHERE namespace = :namespace AND short_id >= :lowest AND short_id < :beyond ORDER BY short_id, id LIMIT :limit;

-- name: importance_rows
-- kind: routed
SELECT m.id, m.op, m.tier, m.pinned, m.importance, m.access_count, m.anchor_ms, m.decayed, m.decayed_ms,
  substr(coalesce(c.shown, c.text), 1, :width)
FROM memory AS m CROSS JOIN content AS c ON c.row = m.row
WHERE m.namespace = :namespace AND m.id > :after AND m.status = 'active' AND c.namespace = :namespace
ORDER BY m.id LIMIT :limit;

-- name: find_digests
-- kind: routed
SELECT c.id FROM json_each(:digests) AS d CROSS JOIN content AS c ON c.namespace = :namespace AND c.digest = d.value
ORDER BY c.row;

-- name: texts_left
-- kind: routed
SELECT c.id, CAST(c.text AS BLOB), c.packed, CAST(c.metadata AS BLOB), CAST(c.shown AS BLOB),
  (SELECT v.data FROM vector AS v WHERE v.namespace = c.namespace AND v.row = c.row
    AND v.space = (SELECT number FROM space WHERE active))
FROM content AS c WHERE c.namespace = :namespace AND c.id IN (SELECT value FROM json_each(:ids)) ORDER BY c.row;

-- name: find_keys
-- kind: routed
SELECT plain_key(k.packed), m.id FROM idempotency AS k CROSS JOIN memory AS m NOT INDEXED ON m.namespace = k.namespace AND m.row = k.row
WHERE k.namespace = :namespace AND k.packed IN (SELECT packed_key(value) FROM json_each(:keys));

-- Keys that known words were given later stand in documents.
-- name: find_all_keys
-- kind: routed
SELECT plain_key(k.packed), m.id FROM idempotency AS k CROSS JOIN memory AS m NOT INDEXED ON m.namespace = k.namespace AND m.row = k.row
WHERE k.namespace = :namespace AND k.packed IN (SELECT packed_key(value) FROM json_each(:keys))
UNION ALL
SELECT d.name, d.id FROM document AS d WHERE d.namespace = :namespace AND d.shelf = 'key' AND d.name IN (SELECT value FROM json_each(:keys));

-- The plus keeps SQLite from looking for the highest id among all operations instead of in the index of what they undo.
-- name: operations_of
-- kind: routed
SELECT o.namespace, o.id, o.operation, o.at_ms, o.changes, o.hides, o.policy, o.note, o.undoes,
  (SELECT max(+u.id) FROM operation AS u WHERE u.namespace = :namespace AND u.undoes = o.id), o.actor
FROM operation AS o WHERE o.namespace = :namespace AND o.operation NOT IN (SELECT value FROM json_each(:without))
ORDER BY o.number DESC LIMIT :limit;

-- name: operations
-- kind: fan-out
SELECT o.namespace, o.id, o.operation, o.at_ms, o.changes, o.hides, o.policy, o.note, o.undoes,
  (SELECT max(+u.id) FROM operation AS u WHERE u.namespace = o.namespace AND u.undoes = o.id), o.actor
FROM operation AS o WHERE o.operation NOT IN (SELECT value FROM json_each(:without))
ORDER BY o.number DESC LIMIT :limit;

-- name: new_vectors
-- kind: routed
SELECT v.row, v.data, m.created_ms, m.kind, m.scope, m.status, m.session, c.tags
FROM vector AS v JOIN memory AS m ON m.namespace = v.namespace AND m.row = v.row
  JOIN content AS c ON c.namespace = v.namespace AND c.row = v.row
WHERE v.namespace = :namespace AND v.space = :space AND v.seq > :seen ORDER BY v.seq, v.row;

-- name: changed_rows
-- kind: routed
SELECT m.row, m.status, m.scope, c.tags, m.created_ms
FROM memory AS m JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row
WHERE m.namespace = :namespace AND m.changed > 0 AND m.changed > :seen;

-- name: gone_rows
-- kind: routed
SELECT row FROM gone WHERE namespace = :namespace AND seq > :seen;

-- name: last_segment
-- kind: routed
SELECT coalesce(max(number), -1), coalesce(max(seq), -1) FROM segment WHERE namespace = :namespace AND space = :space;

-- name: insert_segment
-- kind: routed
INSERT INTO segment (namespace, space, number, seq, version, rows, codes, attributes, cells)
VALUES (:namespace, :space, :number, :seq, :version, :rows, :codes, :attributes, :cells);

-- name: segments
-- kind: routed
SELECT number, seq, version, rows, codes, attributes, cells FROM segment
WHERE namespace = :namespace AND space = :space ORDER BY number;

-- name: set_segment_cells
-- kind: routed
UPDATE segment SET cells = :cells WHERE namespace = :namespace AND space = :space AND number = :number;

-- name: cell_map
-- kind: routed
SELECT vectors, data FROM cell_map WHERE namespace = :namespace AND space = :space;

-- name: save_cell_map
-- kind: routed
INSERT INTO cell_map (namespace, space, vectors, data) VALUES (:namespace, :space, :vectors, :data)
ON CONFLICT (namespace, space) DO UPDATE SET vectors = excluded.vectors, data = excluded.data;

-- name: vector_count
-- kind: routed
SELECT vectors FROM namespace WHERE namespace = :namespace;

-- name: total_rows
-- kind: admin
SELECT coalesce(max(row), 0) FROM memory;

-- name: filter_tags
-- kind: part
(SELECT count(*) FROM tag AS t WHERE t.namespace = m.namespace AND t.row = m.row
  AND t.tag IN (SELECT value FROM json_each(:tags))) = :tag_count;

-- name: recorded
-- kind: routed
SELECT row, recorded_ms FROM memory NOT INDEXED WHERE namespace = :namespace AND row > :after;

-- name: passing
-- kind: routed
SELECT m.row FROM memory AS m WHERE m.namespace = :namespace AND {filters};

-- name: narrow
-- kind: routed
SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks, m.created_ms FROM memory AS m NOT INDEXED
WHERE m.namespace = :namespace AND m.row IN (SELECT value FROM json_each(:rows)) AND {filters};

-- name: due_at
-- kind: routed
SELECT row, id, CASE WHEN held THEN NULL ELSE due_ms END FROM memory NOT INDEXED
WHERE namespace = :namespace AND row IN (SELECT value FROM json_each(:rows));

-- name: beside
-- kind: routed
SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks, m.created_ms
FROM json_each(:places) AS p CROSS JOIN memory AS m
  ON m.namespace = :namespace AND m.session = p.value ->> 0 AND m.turn = p.value ->> 1
WHERE m.session IS NOT NULL AND {filters};

-- name: texts
-- kind: routed
SELECT c.row, c.text, c.packed, m.speaker
FROM json_each(:rows) AS r CROSS JOIN content AS c NOT INDEXED ON c.namespace = :namespace AND c.row = r.value
  CROSS JOIN memory AS m NOT INDEXED ON m.namespace = c.namespace AND m.row = c.row;

-- name: shown
-- kind: routed
SELECT c.row, c.shown, m.speaker
FROM json_each(:rows) AS r CROSS JOIN content AS c NOT INDEXED
  ON c.namespace = :namespace AND c.row = r.value AND c.shown IS NOT NULL
  CROSS JOIN memory AS m NOT INDEXED ON m.namespace = c.namespace AND m.row = c.row;

-- name: tags_at
-- kind: routed
SELECT row, tags FROM content NOT INDEXED
WHERE namespace = :namespace AND row IN (SELECT value FROM json_each(:rows));

-- name: vectors_at
-- kind: routed
SELECT v.row, v.data FROM json_each(:rows) AS r
  CROSS JOIN vector AS v ON v.namespace = :namespace AND v.space = :space AND v.row = r.value;

-- name: document_frequency
-- kind: admin
SELECT doc FROM vocabulary WHERE term = :term;

-- name: beginning
-- kind: admin
SELECT term FROM vocabulary WHERE term >= :first AND term < :last ORDER BY term LIMIT :limit;

-- name: alone
-- kind: fan-out
SELECT NOT EXISTS (SELECT 1 FROM namespace WHERE namespace < :namespace)
AND NOT EXISTS (SELECT 1 FROM namespace WHERE namespace > :namespace);

-- name: best_by_words
-- kind: fan-out
SELECT rowid, bm25(words, 1.0, 0.0) AS score FROM words WHERE words MATCH :query ORDER BY score LIMIT :limit;

-- name: holding
-- kind: fan-out
SELECT rowid FROM words WHERE words MATCH :query LIMIT :limit;

-- name: merge_words
-- kind: admin
INSERT INTO words (words) VALUES ('optimize');

-- name: create_filling
-- kind: admin
CREATE TABLE filling (zeros BLOB);

-- name: fill
-- kind: admin
INSERT INTO filling (zeros) VALUES (zeroblob(:size));

-- name: drop_filling
-- kind: admin
DROP TABLE filling;

-- name: check_words
-- kind: admin
INSERT INTO words (words, rank) VALUES ('integrity-check', 0);

-- name: memories_without_words
-- kind: fan-out
SELECT count(*) FROM memory AS m WHERE NOT EXISTS
  (SELECT 1 FROM words_docsize AS d WHERE d.id = m.row);

-- name: words_without_memory
-- kind: fan-out
SELECT count(*) FROM words_docsize AS d WHERE NOT EXISTS
  (SELECT 1 FROM memory AS m WHERE m.row = d.id);

-- name: vectors_of_wrong_size
-- kind: fan-out
SELECT count(*) FROM vector AS v JOIN space AS s ON s.number = v.space
WHERE length(v.data) <> s.dimensions;

-- name: insert_document
-- kind: routed
INSERT INTO document (namespace, shelf, id, name, data) VALUES (:namespace, :shelf, :id, :name, :data);

-- name: update_document
-- kind: routed
UPDATE document SET data = :after
WHERE namespace = :namespace AND shelf = :shelf AND id = :id AND name = :name AND data = :before;

-- The likelihood makes it use the index of names: else it reads the whole shelf in the order that is asked for.
-- name: documents_named
-- kind: routed
SELECT DISTINCT d.shelf, d.id, d.name, d.data
FROM json_each(:names) AS n CROSS JOIN document AS d
  ON d.namespace = :namespace AND d.shelf = :shelf AND likelihood(d.name = n.value, 0.0001)
ORDER BY d.id, d.name;

-- name: delete_document
-- kind: routed
DELETE FROM document
WHERE namespace = :namespace AND shelf = :shelf AND id = :id AND name = :name AND data = :before;

-- --- the journal against the rows: what a check reads; the session unpacks the lines of the first two

-- name: lines_about
-- kind: routed
SELECT o.id, j.target, i.value, j.data
FROM json_each(:ids) AS i CROSS JOIN journal AS j ON j.namespace = :namespace AND likelihood(j.id = packed_id(i.value), 0.0001)
  CROSS JOIN operation AS o ON o.namespace = j.namespace AND o.number = j.operation
ORDER BY j.operation, j.position;

-- name: lines_of_operations
-- kind: routed
SELECT o.id, j.target, j.id, j.data
FROM operation AS o CROSS JOIN journal AS j ON j.namespace = o.namespace AND j.operation = o.number
WHERE o.namespace = :namespace AND o.id IN (SELECT value FROM json_each(:operations)) ORDER BY o.id, j.position;

-- name: story_of
-- kind: routed
SELECT plain_id(j.id), o.id, j.position, line_part(j.data, 0, o.id), line_part(j.data, 1, o.id)
FROM json_each(:ids) AS i CROSS JOIN journal AS j ON j.namespace = :namespace AND likelihood(j.id = packed_id(i.value), 0.0001)
  AND j.target = 'memory'
  CROSS JOIN operation AS o ON o.namespace = j.namespace AND o.number = j.operation
ORDER BY j.operation, j.position;

-- name: operations_about
-- kind: routed
SELECT DISTINCT o.id FROM journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.number = j.operation
WHERE j.namespace = :namespace AND j.id IN (SELECT packed_id(value) FROM json_each(:ids));

-- name: schema
-- kind: admin
SELECT type, name, sql FROM sqlite_schema
WHERE NOT (type = 'index' AND sql IS NULL AND name LIKE 'sqlite!_autoindex!_%' ESCAPE '!')
  AND NOT (type = 'table' AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'));

-- name: every_table
-- kind: admin
SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%';

-- name: broken_texts
-- kind: admin
SELECT {columns} FROM {table}
WHERE typeof({column}) = 'text' AND CAST(as_text(CAST({column} AS BLOB)) AS BLOB) <> CAST({column} AS BLOB);

-- name: mend_texts
-- kind: admin
UPDATE {table} SET {column} = as_text(CAST({column} AS BLOB))
WHERE typeof({column}) = 'text' AND CAST(as_text(CAST({column} AS BLOB)) AS BLOB) <> CAST({column} AS BLOB);

-- name: table_columns
-- kind: admin
SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?);

-- name: roots
-- kind: admin
SELECT type, name, rootpage, coalesce(sql, '') FROM sqlite_schema WHERE rootpage > 0;

-- name: insert_salvaged
-- kind: admin
INSERT INTO {table} ({columns}) VALUES ({values});

-- name: insert_kept_rows
-- kind: admin
INSERT INTO {table} ({columns}) SELECT {values} FROM damaged_table;

-- name: set_asks
-- kind: admin
UPDATE memory SET asks = ? WHERE row = ?;

-- name: every_term
-- kind: admin
SELECT term, doc FROM vocabulary;

-- name: forget_words
-- kind: admin
DELETE FROM sqlite_schema WHERE type = 'table' AND name IN ('words', 'vocabulary');

-- name: create_entries
-- kind: admin
CREATE VIRTUAL TABLE IF NOT EXISTS temp.entries USING fts5vocab (main, words, instance);

-- name: entries
-- kind: admin
SELECT term, doc, col, "offset" FROM temp.entries;

-- name: blocks
-- kind: admin
SELECT id, block FROM words_data;

-- name: words_pages
-- kind: admin
SELECT segid, term, pgno FROM words_idx;

-- name: sizes_of_texts
-- kind: admin
SELECT id, sz FROM words_docsize ORDER BY id;

-- name: insert_blocks
-- kind: admin
INSERT INTO words_data (id, block) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET block = excluded.block;

-- name: insert_words_pages
-- kind: admin
INSERT INTO words_idx (segid, term, pgno) VALUES (?, ?, ?);

-- name: averages
-- kind: admin
SELECT block FROM words_data WHERE id = 1;

-- name: blocks_in_order
-- kind: admin
-- 1 holds averages, 10 how many segments there are; the upper bits of the others are the number of their segment.
SELECT id & 0x1fffffffff, block FROM words_data WHERE id > 10 ORDER BY id;

-- name: drop_entries
-- kind: admin
DROP TABLE temp.entries;

-- name: clear_unreadable_documents
-- kind: routed
DELETE FROM document WHERE namespace = :namespace AND (typeof(data) <> 'text' OR NOT is_document(CAST(data AS BLOB)));

-- name: clear_unreadable_recalls
-- kind: routed
DELETE FROM recall_log WHERE namespace = :namespace
  AND (typeof(at_ms) <> 'integer' OR typeof(query) <> 'text' OR typeof(hits) <> 'text' OR NOT are_hits(CAST(hits AS BLOB)));

-- name: gone_and_present
-- kind: fan-out
SELECT count(*) FROM gone AS g WHERE typeof(g.row) <> 'integer' OR typeof(g.seq) <> 'integer' OR EXISTS (
  SELECT 1 FROM memory AS m NOT INDEXED WHERE m.row = g.row AND m.namespace = g.namespace);

-- name: clear_present
-- kind: routed
DELETE FROM gone WHERE namespace = :namespace AND (typeof(row) <> 'integer' OR typeof(seq) <> 'integer' OR EXISTS (
  SELECT 1 FROM memory AS m NOT INDEXED WHERE m.row = gone.row AND m.namespace = :namespace));

-- More than a million at one instant. Whether it is before the memory was stored tells nothing: clocks are set back.
-- name: impossible_accesses
-- kind: fan-out
SELECT count(*) FROM access AS a WHERE typeof(a.at_ms) <> 'integer' OR typeof(a.times) <> 'integer' OR a.times NOT BETWEEN 1 AND 1000000;

-- name: clear_wrong_accesses
-- kind: routed
DELETE FROM access AS a
WHERE a.namespace = :namespace AND (typeof(a.at_ms) <> 'integer' OR typeof(a.times) <> 'integer' OR a.times NOT BETWEEN 1 AND 1000000);

-- name: wrong_recall_counts
-- kind: fan-out
SELECT count(*) FROM namespace AS n WHERE n.recalls <> (SELECT count(*) FROM recall_log AS r WHERE r.namespace = n.namespace);

-- name: wrong_memory_counts
-- kind: fan-out
SELECT count(*) FROM namespace AS n WHERE n.documents <> (SELECT count(*) FROM memory AS m WHERE m.namespace = n.namespace);

-- name: wrong_last_row
-- kind: fan-out
SELECT coalesce((SELECT max(row) FROM memory), 0) > coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'memory'), 0);

-- name: forget_last_row
-- kind: admin
DELETE FROM sqlite_sequence;

-- No row is given out twice: also not that of a memory of which only something else is left.
-- name: note_last_row
-- kind: admin
INSERT INTO sqlite_sequence (name, seq) SELECT 'memory', max(
  coalesce((SELECT max(row) FROM memory), 0), coalesce((SELECT max(row) FROM content), 0),
  coalesce((SELECT max(row) FROM vector), 0), coalesce((SELECT max(row) FROM gone), 0));

-- Among the numbers that operations get here; those that came from elsewhere have numbers made of instants.
-- name: missing_operations
-- kind: fan-out
SELECT max(0, coalesce(max(number), 0) - count(*)
  - (SELECT coalesce(sum(json_extract(data, '$.operations')), 0) FROM document WHERE shelf = 'lost'))
FROM operation WHERE number BETWEEN 1 AND 4294967295;

-- name: restore_namespace
-- kind: routed
INSERT INTO namespace (namespace, version, created_ms, policy)
SELECT :namespace, 1 + max(max(m.changed), coalesce((SELECT max(v.seq) FROM vector AS v WHERE v.namespace = :namespace), 0),
    coalesce((SELECT max(g.seq) FROM gone AS g WHERE g.namespace = :namespace), 0)), min(m.created_ms),
  coalesce((SELECT o.policy FROM operation AS o WHERE o.namespace = :namespace ORDER BY o.number DESC LIMIT 1), '')
FROM memory AS m WHERE m.namespace = :namespace;

-- name: filled_spaces
-- kind: fan-out
SELECT DISTINCT v.namespace, v.space, s.dimensions FROM vector AS v JOIN space AS s ON s.number = v.space AND s.active;

-- name: vectors_after
-- kind: routed
SELECT v.row, v.data, m.created_ms, m.kind, m.scope, m.status, m.session, c.tags
FROM vector AS v JOIN memory AS m ON m.namespace = v.namespace AND m.row = v.row
  JOIN content AS c ON c.namespace = v.namespace AND c.row = v.row
WHERE v.namespace = :namespace AND v.space = :space AND v.row > :after ORDER BY v.row LIMIT :limit;

-- name: fill_tags
-- kind: routed
INSERT INTO tag (namespace, tag, row)
SELECT DISTINCT c.namespace, j.value, c.row FROM content AS c CROSS JOIN json_each(CASE WHEN json_valid(c.tags) THEN c.tags ELSE '[]' END) AS j
WHERE c.namespace = :namespace AND j.type = 'text';

-- name: clear_segments
-- kind: routed
DELETE FROM segment WHERE namespace = :namespace;

-- name: clear_cells
-- kind: routed
DELETE FROM cell_map WHERE namespace = :namespace;

-- name: recount
-- kind: routed
UPDATE namespace SET packed = 0, recalls = (SELECT count(*) FROM recall_log AS r WHERE r.namespace = :namespace),
  vectors = (SELECT count(*) FROM vector AS v WHERE v.namespace = :namespace),
  documents = (SELECT count(*) FROM memory AS m WHERE m.namespace = :namespace)
WHERE namespace = :namespace;

-- name: texts_with_rows
-- kind: fan-out
SELECT m.row, m.namespace, m.id, CAST(c.text AS BLOB), c.packed, CAST(m.speaker AS BLOB), CAST(m.asks AS BLOB)
FROM memory AS m JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row ORDER BY m.row;

-- name: tags_without_content
-- kind: fan-out
SELECT count(*) FROM tag AS t WHERE NOT EXISTS (
  SELECT 1 FROM content AS c WHERE c.namespace = t.namespace AND c.row = t.row AND EXISTS (
    SELECT 1 FROM json_each(CASE WHEN json_valid(c.tags) THEN c.tags ELSE '[]' END) AS j WHERE j.value = t.tag));

-- name: contents_without_tags
-- kind: fan-out
SELECT count(*) FROM content AS c CROSS JOIN json_each(CASE WHEN json_valid(c.tags) THEN c.tags ELSE '[]' END) AS j WHERE NOT EXISTS (
  SELECT 1 FROM tag AS t WHERE t.namespace = c.namespace AND t.row = c.row AND t.tag = j.value);

-- name: documents_at
-- kind: routed
SELECT d.id, d.shelf, d.name, d.data
FROM json_each(:ids) AS i CROSS JOIN document AS d ON d.namespace = :namespace AND likelihood(d.id = i.value, 0.0001);

-- name: links_of
-- kind: routed
SELECT kind, other, weight FROM link WHERE namespace = :namespace AND id = :id
UNION ALL
SELECT kind, id, weight FROM link WHERE namespace = :namespace AND likelihood(other = :id, 0.0001)
ORDER BY 1, 2;

-- name: links_to
-- kind: routed
SELECT id, kind, weight FROM link WHERE namespace = :namespace AND likelihood(other = :id, 0.0001) ORDER BY id, kind;

-- name: links_at
-- kind: routed
SELECT l.id, l.kind, l.other FROM json_each(:ids) AS i CROSS JOIN link AS l ON l.namespace = :namespace AND l.id = i.value
UNION
SELECT l.id, l.kind, l.other FROM json_each(:ids) AS i CROSS JOIN link AS l ON l.namespace = :namespace AND l.other = i.value
ORDER BY 1, 2, 3;

-- Moving a store: rows of `memory` and `operation` are found by their address, which is the order: else every page would sort the namespace anew.

-- name: move_memory
-- kind: routed
SELECT m.row, m.id, m.op, m.session, m.turn, m.speaker, {state},
  c.text, c.tags, c.source, c.task, c.metadata, c.shown, c.packed,
  (SELECT json_group_array(plain_key(k.packed)) FROM idempotency AS k WHERE k.namespace = m.namespace AND k.row = m.row)
FROM memory AS m NOT INDEXED
  CROSS JOIN content AS c NOT INDEXED ON c.namespace = m.namespace AND c.row = m.row
WHERE m.namespace = :namespace AND m.row > :row_after ORDER BY m.row LIMIT :limit;

-- name: move_vector
-- kind: routed
SELECT v.space, v.row, m.id, s.name, v.data
FROM vector AS v CROSS JOIN memory AS m NOT INDEXED ON m.namespace = v.namespace AND m.row = v.row
  CROSS JOIN space AS s ON s.number = v.space
WHERE v.namespace = :namespace AND (v.space, v.row) > (:space_after, :row_after) ORDER BY v.space, v.row LIMIT :limit;

-- name: move_operation
-- kind: routed
SELECT number, id, operation, at_ms, changes, hides, policy, note, undoes, digest, actor FROM operation NOT INDEXED
WHERE namespace = :namespace AND number > :number_after ORDER BY number LIMIT :limit;

-- name: move_journal
-- kind: routed
SELECT o.number, j.position, o.id, j.position, j.target, plain_id(j.id), line_part(j.data, 0, o.id), line_part(j.data, 1, o.id), line_part(j.data, 2, o.id)
FROM operation AS o NOT INDEXED CROSS JOIN journal AS j ON j.namespace = o.namespace AND j.operation = o.number
WHERE o.namespace = :namespace AND o.number >= :number_after AND (o.number > :number_after OR j.position > :position_after)
ORDER BY o.number, j.position LIMIT :limit;

-- name: last_number
-- kind: routed
SELECT coalesce(max(number), 0) FROM operation WHERE namespace = :namespace;

-- name: number_taken
-- kind: fan-out
SELECT count(*) FROM operation WHERE number = :number;

-- --- lines of the journal: stores/sqlite/lines.py has the functions

-- name: journal_of_operation
-- kind: routed
SELECT j.target, plain_id(j.id), line_part(j.data, 0, o.id), line_part(j.data, 1, o.id), line_part(j.data, 2, o.id)
FROM journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.number = j.operation
WHERE j.namespace = :namespace AND o.id = :operation ORDER BY j.position;

-- The lines of one memory: without the likelihood the whole journal of the namespace is read.
-- name: journal_of_memory
-- kind: routed
SELECT o.id, o.operation, j.namespace, o.at_ms, j.target, plain_id(j.id), line_part(j.data, 0, o.id), line_part(j.data, 1, o.id), line_part(j.data, 2, o.id), o.policy
FROM journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.number = j.operation
WHERE j.namespace = :namespace AND likelihood(j.id = packed_id(:id), 0.0001) ORDER BY j.operation, j.position;

-- Without the name of the index it reads all memories, not those that are hidden.
-- name: gone_by_day
-- kind: routed
SELECT m.status_ms / 86400000, coalesce(o.operation, ''), count(*) FROM memory AS m INDEXED BY memory_unfit
LEFT JOIN operation AS o ON o.namespace = m.namespace AND o.id = m.op
WHERE m.namespace = :namespace AND m.status <> 'active' AND m.status_ms >= :since GROUP BY 1, 2;

-- By the index of these three (memory_counts).
-- name: tally
-- kind: fan-out
SELECT namespace, sort ->> 0, sort ->> 1, sort ->> 2, many FROM (
  SELECT namespace, json_array(kind, tier, status) AS sort, count(*) AS many FROM memory
  GROUP BY namespace, json_array(kind, tier, status)
) ORDER BY 1, 2, 3, 4;

-- name: tally_of
-- kind: routed
SELECT namespace, sort ->> 0, sort ->> 1, sort ->> 2, many FROM (
  SELECT namespace, json_array(kind, tier, status) AS sort, count(*) AS many FROM memory WHERE namespace = :namespace
  GROUP BY namespace, json_array(kind, tier, status)
) ORDER BY 1, 2, 3, 4;

-- What became of memories, by the newest lines about them. What was undone did not happen, and its undoing neither.
-- name: events
-- kind: routed
SELECT CASE
    WHEN before IS NULL AND after IS NULL THEN CASE operation WHEN 'erase' THEN 'erased' ELSE '' END
    WHEN before IS NULL THEN 'stored'
    WHEN after ->> 'status' <> before ->> 'status' THEN after ->> 'status'
    WHEN after ->> 'tier' <> before ->> 'tier' THEN 'moved'
    WHEN after ->> 'held' > before ->> 'held' THEN 'held' ELSE '' END,
  coalesce(after ->> 'form' <> before ->> 'form' AND after ->> 'form' <> 'full', 0), recent, count(*)
FROM (SELECT operation, recent,
  CASE WHEN json_valid(was) THEN was END AS before, CASE WHEN json_valid(became) THEN became END AS after FROM (
  SELECT o.operation, o.at_ms >= :day AS recent, line_part(j.data, 0, o.id) AS was, line_part(j.data, 1, o.id) AS became
  FROM operation AS o CROSS JOIN journal AS j ON j.namespace = o.namespace AND j.operation = o.number AND j.target = 'memory'
  WHERE o.namespace = :namespace AND o.at_ms >= :week AND o.undoes IS NULL AND NOT EXISTS (
    SELECT 1 FROM operation AS u WHERE u.namespace = :namespace AND u.undoes = o.id AND NOT EXISTS (
      SELECT 1 FROM operation AS r WHERE r.namespace = :namespace AND r.undoes = u.id))
  ORDER BY o.at_ms DESC LIMIT :most
))
GROUP BY 1, 2, 3;

-- name: journalled_ids
-- kind: routed
SELECT id FROM (SELECT id FROM memory WHERE namespace = :namespace AND id > :after ORDER BY id LIMIT :limit)
UNION
SELECT id FROM (SELECT DISTINCT id FROM journal WHERE namespace = :namespace AND id > :after AND id < x'' ORDER BY id LIMIT :limit)
UNION
SELECT plain_id(id) FROM (SELECT DISTINCT id FROM journal WHERE namespace = :namespace AND id >= packed_after(:after) ORDER BY id LIMIT :limit)
ORDER BY 1 LIMIT :limit;

-- name: bytes_of_journal
-- kind: routed
SELECT coalesce(sum(length(id) + length(target) + length(data)), 0) FROM journal WHERE namespace = :namespace;

-- name: lines_without_operation
-- kind: fan-out
SELECT count(*) FROM journal AS j WHERE NOT EXISTS (
  SELECT 1 FROM operation AS o WHERE o.namespace = j.namespace AND o.number = j.operation);

-- name: short_journals
-- kind: fan-out
SELECT count(*) FROM operation AS o WHERE o.changes <> (
  SELECT count(*) FROM journal AS j WHERE j.namespace = o.namespace AND j.operation = o.number)
  AND NOT EXISTS (SELECT 1 FROM document AS d WHERE d.namespace = o.namespace AND d.shelf = 'lost' AND d.id = o.id);

-- name: unnamed_operations
-- kind: routed
SELECT DISTINCT j.operation FROM journal AS j WHERE j.namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.namespace = :namespace AND o.number = j.operation);

-- name: clear_lines
-- kind: routed
DELETE FROM journal WHERE namespace = :namespace
  AND (operation = :number OR operation IN (SELECT o.number FROM operation AS o WHERE o.namespace = :namespace AND o.id = :id));

-- name: clear_displaced_lines
-- kind: routed
DELETE FROM journal WHERE namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.namespace = :namespace AND o.number = journal.operation)
  AND EXISTS (
    SELECT 1 FROM operation AS o CROSS JOIN journal AS j ON j.namespace = :namespace AND j.operation = o.number
    WHERE o.namespace = :namespace AND o.id = :id AND j.id = journal.id AND j.data = journal.data);

-- name: put_line
-- kind: routed
INSERT INTO journal (namespace, operation, position, target, id, data)
SELECT o.namespace, o.number, :position, :target, packed_id(:id), packed_line(:operation, :before, :after, :because)
FROM operation AS o WHERE o.namespace = :namespace AND o.id = :operation;

-- name: blank_journal
-- kind: routed
UPDATE journal SET data = packed_line('', NULL, NULL, :because)
WHERE namespace = :namespace AND likelihood(id = packed_id(:id), 0.0001) AND operation IS NOT (SELECT o.number FROM operation AS o WHERE o.namespace = :namespace AND o.id = :operation);

-- name: rename_journal
-- kind: routed
UPDATE journal SET id = packed_id(:other) WHERE namespace = :namespace AND likelihood(id = packed_id(:id), 0.0001);

-- As bytes: a text that is damaged could not be read at all.
-- name: operation_notes
-- kind: routed
SELECT id, CAST(note AS BLOB) FROM operation WHERE namespace = :namespace AND note <> '';

-- name: journal_page
-- kind: routed
SELECT o.id, j.position, line_part(j.data, 0, o.id), line_part(j.data, 1, o.id), line_part(j.data, 2, o.id)
FROM journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.number = j.operation
WHERE j.namespace = :namespace AND (j.operation, j.position) > (
  coalesce((SELECT number FROM operation WHERE namespace = :namespace AND id = :operation), -9223372036854775808), :position)
ORDER BY j.operation, j.position LIMIT :limit;

-- name: redact_journal
-- kind: routed
UPDATE journal SET data = packed_line(:operation, :before, :after, :because)
WHERE namespace = :namespace AND position = :position
  AND operation = (SELECT o.number FROM operation AS o WHERE o.namespace = :namespace AND o.id = :operation);

-- name: next_number
-- kind: fan-out
SELECT 1 + max(coalesce((SELECT max(o.number) FROM operation AS o), 0),
  coalesce((SELECT max(j.operation) FROM journal AS j WHERE j.namespace = :namespace), 0));

-- Words are read as bytes: the driver refuses a damaged text, and one must not end the search for erased words.

-- name: words_of_memories
-- kind: fan-out
SELECT 'memory', namespace, id, CAST(packed AS BLOB), CAST(text AS BLOB), CAST(shown AS BLOB), CAST(source AS BLOB),
  CAST(task AS BLOB), CAST(tags AS BLOB), CAST(metadata AS BLOB)
FROM content;

-- name: words_of_journal
-- kind: fan-out
SELECT 'journal line of operation', j.namespace, o.id, NULL,
  line_part(j.data, 0, o.id), line_part(j.data, 1, o.id), line_part(j.data, 2, o.id)
FROM journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.number = j.operation;

-- name: words_of_documents
-- kind: fan-out
SELECT 'document of', namespace, id, NULL, CAST(data AS BLOB) FROM document;

-- name: words_of_recalls
-- kind: fan-out
SELECT 'recall', namespace, id, NULL, CAST(query AS BLOB) FROM recall_log;

-- name: words_of_notes
-- kind: fan-out
SELECT 'note of operation', namespace, id, NULL, CAST(note AS BLOB) FROM operation WHERE note <> '';

-- name: keys_without_memory
-- kind: fan-out
SELECT count(*) FROM idempotency AS i WHERE NOT EXISTS (
  SELECT 1 FROM memory AS m WHERE m.namespace = i.namespace AND m.row = i.row);

-- name: clear_orphan_memories
-- kind: routed
DELETE FROM memory WHERE namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM content AS c WHERE c.namespace = :namespace AND c.row = memory.row AND c.id = memory.id)
  AND NOT EXISTS (SELECT 1 FROM journal AS j WHERE j.namespace = :namespace AND j.id = packed_id(memory.id));

-- name: clear_orphan_keys
-- kind: routed
DELETE FROM idempotency WHERE namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = :namespace AND m.row = idempotency.row);

-- --- what is due. `held = false`, not `NOT held`: the planner finds its index by it.

-- name: due_namespaces
-- kind: fan-out
SELECT n.namespace, n.policy FROM namespace AS n
WHERE substr(n.policy, 1, length(:policy)) <> :policy
  OR EXISTS (SELECT 1 FROM access AS a JOIN memory AS m ON m.namespace = a.namespace AND m.id = a.id
             WHERE a.namespace = n.namespace AND a.at_ms <= :now)
  OR EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = n.namespace AND m.held = false AND m.due_ms IS NOT NULL
             AND m.due_ms <= :now)
ORDER BY n.namespace;

-- A memory that was taken in late has been waiting since then. Of very many that wait, the first are looked at. LIMIT -1
-- keeps the planner from asking twice, once for each use of the answer.
-- name: overdue_namespaces
-- kind: fan-out
SELECT w.namespace, w.overdue, w.held, (SELECT o.at_ms FROM operation AS o
  WHERE o.namespace = w.namespace AND o.changes > 0 ORDER BY o.at_ms DESC LIMIT 1)
FROM (
  SELECT n.namespace,
    (SELECT min(max(w.due_ms, w.recorded_ms)) FROM (
      SELECT m.due_ms, m.recorded_ms FROM memory AS m
      WHERE m.namespace = n.namespace AND m.held = false AND m.due_ms IS NOT NULL AND m.due_ms <= :now
      ORDER BY m.due_ms, m.row LIMIT 5000) AS w) AS overdue,
    (SELECT min(m.due_ms) FROM memory AS m
     WHERE m.namespace = n.namespace AND m.held = true AND m.due_ms IS NOT NULL AND m.due_ms <= :now) AS held
  FROM namespace AS n LIMIT -1) AS w
WHERE w.overdue IS NOT NULL OR w.held IS NOT NULL;

-- name: count_due
-- kind: fan-out
SELECT count(*) FROM memory WHERE due_ms IS NOT NULL AND due_ms <= :now;
