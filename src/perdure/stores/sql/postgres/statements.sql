-- The statements that are PostgreSQL's own, by name; the others are in ../common.sql, which says what `kind` means. Lists
-- are bound as arrays. See stores/statements.py for slots.

-- --- conditions over memory AS m

-- Lists of rows, which a scan takes as bounds of its index. As arrays: the planner makes them once, whatever it knows of
-- the tables; a plain IN may be run again for each memory.
-- name: filter_tags
-- kind: part
m.row = ANY(ARRAY(SELECT t.row FROM tag AS t WHERE t.namespace = :namespace AND t.tag = ANY(CAST(:tags AS text[]))
  GROUP BY t.row HAVING count(*) = :tag_count));

-- name: filter_entity
-- kind: part
m.row = ANY(ARRAY(SELECT p.first + (e.entry >> 40) FROM posting AS p CROSS JOIN LATERAL unnest(p.entries) AS e(entry)
  WHERE p.namespace = :namespace AND p.term = ANY(CAST(:entity AS text[]))
  GROUP BY p.first + (e.entry >> 40) HAVING count(*) = :entity_count));

-- name: filter_said_in
-- kind: part
m.row = ANY(ARRAY(SELECT s.row FROM memory AS s WHERE s.namespace = :namespace AND s.session = :session AND s.session IS NOT NULL));

-- The same for candidates, each looked up by its key: a search has some hundreds, however many memories have a tag.
-- name: filter_tagged
-- kind: part
(SELECT count(*) FROM tag AS t WHERE t.namespace = :namespace AND t.tag = ANY(CAST(:tags AS text[])) AND t.row = m.row) = :tag_count;

-- name: filter_naming
-- kind: part
(SELECT count(*) FROM posting AS p CROSS JOIN LATERAL unnest(p.entries) AS e(entry)
  WHERE p.namespace = :namespace AND p.term = ANY(CAST(:entity AS text[])) AND p.first BETWEEN m.row - :span AND m.row
    AND p.first + (e.entry >> 40) = m.row) = :entity_count;

-- --- writing

-- name: bump_version
-- kind: routed
INSERT INTO namespace AS n (namespace, version, created_ms, policy, last_row, documents, length, vectors)
VALUES (:namespace, 1, :at, :policy, :rows, :documents, :length, :vectors)
ON CONFLICT (namespace) DO UPDATE SET version = n.version + 1, last_row = n.last_row + excluded.last_row,
  documents = n.documents + excluded.documents, length = n.length + excluded.length,
  vectors = n.vectors + excluded.vectors
RETURNING version, last_row;

-- name: operation_exists
-- kind: routed
SELECT EXISTS (SELECT 1 FROM operation WHERE namespace = :namespace AND id = :id);

-- Rows that are new are counted back from the namespace's last one, 0 or less, so that nobody has to wait until it is known.
-- name: insert_memory
-- kind: routed
INSERT INTO memory (namespace, row, id{after:, COLUMN}, asks)
SELECT n.namespace, n.last_row + i.row, i.id{after:, i.COLUMN}, i.asks
FROM namespace AS n CROSS JOIN unnest(CAST(:row AS bigint[]), CAST(:id AS text[]){after:, CAST(:COLUMN AS TYPE[])},
  CAST(:asks AS boolean[])) AS i(row, id{after:, COLUMN}, asks)
WHERE n.namespace = :namespace;

-- name: insert_content
-- kind: routed
INSERT INTO content (namespace, row, id, text, tags, source, task, metadata, shown, packed, digest, length)
SELECT n.namespace, n.last_row + i.row, i.id, i.text, ARRAY(SELECT jsonb_array_elements_text(CAST(i.tags AS jsonb))), i.source, i.task,
  CAST(i.metadata AS jsonb), i.shown, decode(i.packed, 'base64'), i.digest, i.length
FROM namespace AS n CROSS JOIN unnest(CAST(:row AS bigint[]), CAST(:id AS text[]), CAST(:text AS text[]), CAST(:tags AS text[]),
  CAST(:source AS text[]), CAST(:task AS text[]), CAST(:metadata AS text[]), CAST(:shown AS text[]),
  CAST(:packed AS text[]), CAST(:digest AS bigint[]), CAST(:length AS integer[]))
  AS i(row, id, text, tags, source, task, metadata, shown, packed, digest, length)
WHERE n.namespace = :namespace;

-- name: insert_posting
-- kind: routed
INSERT INTO posting (namespace, term, first, documents, entries)
SELECT n.namespace, i.term, CASE WHEN i.first > 0 THEN i.first ELSE n.last_row + i.first END, i.stop - i.start + 1, (CAST(:entries AS bigint[]))[i.start : i.stop]
FROM namespace AS n CROSS JOIN unnest(CAST(:term AS text[]), CAST(:first AS bigint[]), CAST(:start AS integer[]), CAST(:stop AS integer[]))
  AS i(term, first, start, stop)
WHERE n.namespace = :namespace;

-- name: insert_tag
-- kind: routed
INSERT INTO tag (namespace, tag, row)
SELECT n.namespace, i.tag, CASE WHEN i.row > 0 THEN i.row ELSE n.last_row + i.row END
FROM namespace AS n CROSS JOIN unnest(CAST(:tag AS text[]), CAST(:row AS bigint[])) AS i(tag, row)
WHERE n.namespace = :namespace;

-- name: insert_key
-- kind: routed
INSERT INTO idempotency (namespace, key, id)
SELECT n.namespace, i.* FROM namespace AS n CROSS JOIN unnest(CAST(:key AS text[]), CAST(:id AS text[])) AS i
WHERE n.namespace = :namespace;

-- Almost always nobody has stored the same words, so `same` is empty and nothing else is read; without it a planner that
-- knows no statistics yet compares each of 500 texts with the whole namespace.
-- name: duplicate
-- kind: routed
WITH same AS MATERIALIZED (
  SELECT c.row, c.digest, c.text, c.task FROM content AS c
  WHERE c.namespace = :namespace AND c.digest = ANY(CAST(:digests AS bigint[])))
SELECT i.id, m.id FROM same AS c JOIN memory AS m ON m.namespace = :namespace AND m.row = c.row
JOIN unnest(CAST(:id AS text[]), CAST(:digest AS bigint[]), CAST(:kind AS text[]), CAST(:session AS text[]),
  CAST(:speaker AS text[]), CAST(:task AS text[]), CAST(:text AS text[]))
  AS i(id, digest, kind, session, speaker, task, text)
  ON i.digest = c.digest AND i.text = c.text AND i.kind = m.kind AND i.session IS NOT DISTINCT FROM m.session
    AND i.speaker IS NOT DISTINCT FROM m.speaker AND i.task IS NOT DISTINCT FROM c.task
WHERE m.status IN ('active', 'archived') AND m.op <> :op;

-- name: delete_memory
-- kind: routed
DELETE FROM memory AS m USING unnest(CAST(:id AS text[]), CAST(:op AS text[])) AS i(id, op)
WHERE m.namespace = :namespace AND m.id = i.id AND m.op = i.op;

-- name: delete_content
-- kind: routed
DELETE FROM content WHERE namespace = :namespace AND row = ANY(CAST(:rows AS bigint[]));

-- name: delete_accesses
-- kind: routed
DELETE FROM access WHERE namespace = :namespace AND id = ANY(CAST(:ids AS text[]));

-- name: shrink_posting
-- kind: routed
UPDATE posting AS p SET documents = x.documents, entries = x.entries
FROM (SELECT q.term, q.first, count(e.entry) AS documents, coalesce(array_agg(e.entry ORDER BY e.entry), '{}') AS entries
  FROM posting AS q LEFT JOIN LATERAL unnest(q.entries) AS e(entry) ON q.first + (e.entry >> 40) <> :row
  WHERE q.namespace = :namespace AND q.term = ANY(CAST(:terms AS text[])) AND q.first BETWEEN :row - :span AND :row
  GROUP BY q.term, q.first) AS x
WHERE p.namespace = :namespace AND p.term = x.term AND p.first = x.first;

-- name: delete_posting
-- kind: routed
DELETE FROM posting WHERE namespace = :namespace AND term = ANY(CAST(:terms AS text[])) AND first BETWEEN :row - :span AND :row
  AND documents = 0;

-- name: delete_tags
-- kind: routed
DELETE FROM tag WHERE namespace = :namespace AND tag = ANY(CAST(:tags AS text[])) AND row = ANY(CAST(:rows AS bigint[]));

-- name: delete_keys
-- kind: routed
DELETE FROM idempotency AS k USING unnest(CAST(:key AS text[]), CAST(:id AS text[])) AS i(key, id)
WHERE k.namespace = :namespace AND k.key = i.key AND k.id = i.id;

-- name: delete_vectors
-- kind: routed
DELETE FROM embedding AS v USING space AS s
WHERE v.namespace = :namespace AND v.space = s.number AND v.row = ANY(CAST(:rows AS bigint[]));

-- name: update_memory
-- kind: routed
UPDATE memory AS m SET {sets:COLUMN = i.new_COLUMN}
FROM unnest(CAST(:id AS text[]){after:, CAST(:new_COLUMN AS TYPE[])}{before:, CAST(:old_COLUMN AS TYPE[])})
  AS i(id{after:, new_COLUMN}{before:, old_COLUMN})
WHERE m.namespace = :namespace AND m.id = i.id AND {tests:m.COLUMN IS NOT DISTINCT FROM i.old_COLUMN};

-- name: show_content
-- kind: routed
UPDATE content AS c SET text = i.text, shown = i.shown, packed = decode(i.packed, 'base64')
FROM unnest(CAST(:row AS bigint[]), CAST(:text AS text[]), CAST(:shown AS text[]), CAST(:packed AS text[]))
  AS i(row, text, shown, packed)
WHERE c.namespace = :namespace AND c.row = i.row;

-- name: label_content
-- kind: routed
UPDATE content AS c SET tags = ARRAY(SELECT jsonb_array_elements_text(CAST(i.tags AS jsonb))), source = i.source,
  metadata = CAST(i.metadata AS jsonb)
FROM unnest(CAST(:row AS bigint[]), CAST(:tags AS text[]), CAST(:source AS text[]), CAST(:metadata AS text[]))
  AS i(row, tags, source, metadata)
WHERE c.namespace = :namespace AND c.row = i.row;

-- name: content_texts
-- kind: routed
SELECT row, text, packed FROM content WHERE namespace = :namespace AND row = ANY(CAST(:rows AS bigint[]));

-- name: content_labels
-- kind: routed
SELECT row, tags, source, metadata FROM content WHERE namespace = :namespace AND row = ANY(CAST(:rows AS bigint[]));

-- name: ops_of
-- kind: routed
SELECT id, op FROM memory WHERE namespace = :namespace AND id = ANY(CAST(:ids AS text[]));

-- name: rows_of
-- kind: routed
SELECT id, row FROM memory WHERE namespace = :namespace AND id = ANY(CAST(:ids AS text[]));

-- name: insert_vector
-- kind: routed
INSERT INTO embedding (namespace, space, row, data)
SELECT n.namespace, i.space, CASE WHEN i.row > 0 THEN i.row ELSE n.last_row + i.row END, i.data
FROM namespace AS n CROSS JOIN unnest(CAST(:space AS integer[]), CAST(:row AS bigint[]), CAST(:data AS halfvec[])) AS i(space, row, data)
WHERE n.namespace = :namespace;

-- name: delete_vector
-- kind: routed
DELETE FROM embedding AS v USING unnest(CAST(:space AS integer[]), CAST(:row AS bigint[])) AS i(space, row)
WHERE v.namespace = :namespace AND v.space = i.space AND v.row = i.row;

-- name: insert_link
-- kind: routed
INSERT INTO link (namespace, id, kind, other, weight)
SELECT n.namespace, i.* FROM namespace AS n CROSS JOIN unnest(CAST(:id AS text[]), CAST(:kind AS text[]), CAST(:other AS text[]),
  CAST(:weight AS double precision[])) AS i
WHERE n.namespace = :namespace
ON CONFLICT DO NOTHING;

-- name: delete_link
-- kind: routed
DELETE FROM link AS l USING unnest(CAST(:id AS text[]), CAST(:kind AS text[]), CAST(:other AS text[])) AS i(id, kind, other)
WHERE l.namespace = :namespace AND l.id = i.id AND l.kind = i.kind AND l.other = i.other;

-- name: insert_access
-- kind: routed
INSERT INTO access AS a (namespace, id, at_ms, times)
SELECT m.namespace, m.id, i.at_ms, i.times
FROM unnest(CAST(:id AS text[]), CAST(:at_ms AS bigint[]), CAST(:times AS bigint[])) AS i(id, at_ms, times)
JOIN memory AS m ON m.namespace = :namespace AND m.id = i.id
ORDER BY m.id
ON CONFLICT (namespace, id, at_ms) DO UPDATE SET times = a.times + excluded.times;

-- name: delete_access
-- kind: routed
DELETE FROM access AS a
USING unnest(CAST(:id AS text[]), CAST(:at_ms AS bigint[]), CAST(:times AS bigint[])) AS i(id, at_ms, times)
WHERE a.namespace = :namespace AND a.id = i.id AND a.at_ms = i.at_ms AND a.times = i.times;

-- name: insert_recall
-- kind: routed
INSERT INTO recall_log (namespace, id, at_ms, query, hits)
VALUES (:namespace, :id, :at_ms, :query, CAST(:hits AS text[])) ON CONFLICT DO NOTHING;

-- name: trim_recalls
-- kind: routed
DELETE FROM recall_log WHERE namespace = :namespace AND id <= (
  SELECT id FROM recall_log WHERE namespace = :namespace ORDER BY id DESC OFFSET :kept LIMIT 1);

-- name: insert_journal
-- kind: routed
INSERT INTO journal (namespace, operation, position, target, id, before, after, because)
SELECT n.namespace, i.* FROM namespace AS n CROSS JOIN unnest(CAST(:operation AS text[]), CAST(:position AS integer[]), CAST(:target AS text[]),
  CAST(:id AS text[]), CAST(:before AS text[]), CAST(:after AS text[]), CAST(:because AS text[])) AS i
WHERE n.namespace = :namespace;

-- name: insert_next_operation
-- kind: routed
INSERT INTO operation (namespace, id, number, operation, at_ms, changes, hides, policy, note, undoes, digest, actor)
SELECT n.namespace, CAST(:id AS text), n.version, CAST(:operation AS text), CAST(:at_ms AS bigint), CAST(:changes AS integer),
  CAST(:hides AS integer), CAST(:policy AS text), CAST(:note AS text), CAST(:undoes AS text), CAST(:digest AS bigint), CAST(:actor AS text)
FROM namespace AS n WHERE n.namespace = :namespace;

-- --- reading records

-- name: records
-- kind: routed
SELECT m.id, m.op, m.session, m.turn, m.speaker, {state},
  c.text, c.tags, c.source, c.task, c.metadata, c.shown, c.packed, c.digest
FROM memory AS m JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row
WHERE m.namespace = :namespace AND m.id = ANY(CAST(:ids AS text[]));

-- name: glances
-- kind: routed
SELECT m.id, m.kind, m.scope, m.status, m.session, m.created_ms, c.text, c.packed
FROM memory AS m JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row
WHERE m.namespace = :namespace AND m.id = ANY(CAST(:ids AS text[]));

-- name: states
-- kind: routed
SELECT m.id, m.op, {state} FROM memory AS m WHERE m.namespace = :namespace AND m.id = ANY(CAST(:ids AS text[]));

-- name: keys_of
-- kind: routed
SELECT id, min(key) FROM idempotency WHERE namespace = :namespace AND id = ANY(CAST(:ids AS text[])) GROUP BY id;

-- name: vectors_of
-- kind: routed
SELECT m.id, v.data FROM memory AS m JOIN embedding AS v ON v.namespace = m.namespace AND v.row = m.row
WHERE m.namespace = :namespace AND m.id = ANY(CAST(:ids AS text[])) AND v.space = (SELECT s.number FROM space AS s WHERE s.active);

-- name: find_digests
-- kind: routed
SELECT id FROM content WHERE namespace = :namespace AND digest = ANY(CAST(:digests AS bigint[])) ORDER BY row;

-- name: texts_left
-- kind: routed
SELECT c.id, c.text, c.packed, c.metadata, c.shown,
  (SELECT v.data FROM embedding AS v WHERE v.namespace = :namespace AND v.row = c.row
    AND v.space = (SELECT s.number FROM space AS s WHERE s.active))
FROM content AS c WHERE c.namespace = :namespace AND c.id = ANY(CAST(:ids AS text[])) ORDER BY c.row;

-- name: find_keys
-- kind: routed
SELECT key, id FROM idempotency WHERE namespace = :namespace AND key = ANY(CAST(:keys AS text[]));

-- Keys that known words were given later stand in documents.
-- name: find_all_keys
-- kind: routed
SELECT key, id FROM idempotency WHERE namespace = :namespace AND key = ANY(CAST(:keys AS text[]))
UNION ALL
SELECT d.name, d.id FROM document AS d WHERE d.namespace = :namespace AND d.shelf = 'key' AND d.name = ANY(CAST(:keys AS text[]));

-- name: find_short_ids_of
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND short_id >= :lowest AND short_id < :beyond
ORDER BY short_id, id LIMIT :limit;

-- name: importance_rows
-- kind: routed
SELECT m.id, m.op, m.tier, m.pinned, m.importance, m.access_count, m.anchor_ms, m.decayed, m.decayed_ms,
  substr(coalesce(c.shown, c.text), 1, CAST(:width AS integer))
FROM memory AS m JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row
WHERE m.namespace = :namespace AND m.id > :after AND m.status = 'active'
ORDER BY m.id LIMIT :limit;

-- --- what is due, at the price of what is due: the store keeps the planner from reading tables end to end (store.py).
-- `held = false`, not `NOT held`: the planner finds the index by it. Policies are compared as the index has them. An access
-- may outlive its memory, where a recall is counted beside an undo: it makes nothing due.

-- name: due_namespaces
-- kind: fan-out
SELECT n.namespace, n.policy FROM (
  SELECT x.namespace FROM namespace AS x
  WHERE x.policy COLLATE "C" < CAST(:policy AS text) OR x.policy COLLATE "C" >= CAST(:policy AS text) || chr(1114111)
  UNION
  SELECT m.namespace FROM memory AS m WHERE m.held = false AND m.due_ms IS NOT NULL AND m.due_ms <= :now
  UNION
  SELECT a.namespace FROM access AS a JOIN LATERAL (
    SELECT x.id FROM memory AS x WHERE x.namespace = a.namespace AND x.id = a.id LIMIT 1) AS m ON true
  WHERE a.at_ms <= :now) AS d
JOIN namespace AS n ON n.namespace = d.namespace ORDER BY n.namespace;

-- A memory that was taken in late has been waiting since then.
-- name: overdue_namespaces
-- kind: fan-out
SELECT f.namespace, f.overdue, f.held, (SELECT o.at_ms FROM operation AS o
  WHERE o.namespace = f.namespace AND o.changes > 0 ORDER BY o.at_ms DESC LIMIT 1)
FROM (SELECT w.namespace, min(w.overdue) AS overdue, min(w.held) AS held FROM (
  SELECT m.namespace, greatest(m.due_ms, m.recorded_ms) AS overdue, NULL AS held FROM memory AS m
  WHERE m.held = false AND m.due_ms IS NOT NULL AND m.due_ms <= :now
  UNION ALL
  SELECT m.namespace, NULL, m.due_ms FROM memory AS m WHERE m.held = true AND m.due_ms IS NOT NULL AND m.due_ms <= :now
) AS w
GROUP BY w.namespace) AS f;

-- name: count_due
-- kind: fan-out
SELECT count(*) FROM memory WHERE held = false AND due_ms IS NOT NULL AND due_ms <= :now
UNION ALL
SELECT count(*) FROM memory WHERE held = true AND due_ms IS NOT NULL AND due_ms <= :now;

-- --- the journal

-- name: find_short_operations_of
-- kind: routed
SELECT id FROM operation WHERE namespace = :namespace AND short_id >= :lowest AND short_id < :beyond
ORDER BY short_id, id LIMIT :limit;

-- name: operations_of
-- kind: routed
SELECT o.namespace, o.id, o.operation, o.at_ms, o.changes, o.hides, o.policy, o.note, o.undoes,
  (SELECT max(u.id) FROM operation AS u WHERE u.namespace = :namespace AND u.undoes = o.id), o.actor
FROM operation AS o WHERE o.namespace = :namespace AND o.operation <> ALL(CAST(:without AS text[]))
ORDER BY o.number DESC LIMIT :limit;

-- name: operations
-- kind: fan-out
SELECT o.namespace, o.id, o.operation, o.at_ms, o.changes, o.hides, o.policy, o.note, o.undoes,
  (SELECT max(u.id) FROM operation AS u WHERE u.namespace = o.namespace AND u.undoes = o.id), o.actor, o.number
FROM operation AS o WHERE o.operation <> ALL(CAST(:without AS text[]))
ORDER BY o.id DESC LIMIT :limit;

-- --- searching
--
-- Memories are looked up one by one (LATERAL ... LIMIT 1): the planner thinks that a namespace is small, because it takes
-- the fence and the statement for two independent conditions, and would rather compare everything with everything.

-- name: search_statistics
-- kind: routed
SELECT n.documents, n.length, n.vectors, n.approximate, s.number, s.dimensions
FROM namespace AS n LEFT JOIN space AS s ON s.active WHERE n.namespace = :namespace;

-- name: document_counts
-- kind: routed
SELECT term, sum(documents) FROM posting WHERE namespace = :namespace AND term = ANY(CAST(:terms AS text[])) GROUP BY term;

-- name: count_tags
-- kind: routed
SELECT count(*) FROM tag WHERE namespace = :namespace AND tag = ANY(CAST(:tags AS text[])) GROUP BY tag;

-- name: count_session
-- kind: routed
SELECT count(*) FROM memory WHERE namespace = :namespace AND session = :session AND session IS NOT NULL;

-- name: beginning
-- kind: routed
SELECT DISTINCT term FROM posting WHERE namespace = :namespace AND term >= :first AND term < :last ORDER BY term LIMIT :limit;

-- name: best_by_words
-- kind: routed
WITH wanted AS (SELECT * FROM unnest(CAST(:terms AS text[]), CAST(:weights AS double precision[])) AS w(term, weight)),
best AS MATERIALIZED (
  SELECT p.first + (e.entry >> 40) AS row,
    sum(w.weight * ((e.entry >> 24) & 65535) * 2.2
        / (((e.entry >> 24) & 65535) + 1.2 * (0.25 + 0.75 * (e.entry & 16777215) / :average))) AS score
  FROM wanted AS w JOIN posting AS p ON p.namespace = :namespace AND p.term = w.term
  CROSS JOIN LATERAL unnest(p.entries) AS e(entry)
  GROUP BY p.first + (e.entry >> 40) ORDER BY score DESC, row LIMIT :wide)
SELECT b.row, b.score, m.id, m.session, m.turn, m.speaker, m.asks, m.created_ms
FROM best AS b LEFT JOIN LATERAL (
  SELECT * FROM memory AS x WHERE x.namespace = :namespace AND x.row = b.row LIMIT 1) AS m ON {filters}
ORDER BY b.score DESC, b.row;

-- name: nearest
-- kind: routed
WITH near AS MATERIALIZED (
  SELECT v.row, v.data FROM embedding AS v WHERE v.namespace = :namespace AND v.space = :space
  ORDER BY v.data <=> (SELECT CAST(:query AS halfvec)) LIMIT :wide)
SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks, m.created_ms, 1 - (CAST(n.data AS vector) <=> (SELECT CAST(:query AS vector))) AS cosine,
  CASE WHEN m.held THEN NULL ELSE m.due_ms END AS due_ms
FROM near AS n JOIN LATERAL (
  SELECT * FROM memory AS x WHERE x.namespace = :namespace AND x.row = n.row LIMIT 1) AS m ON true
WHERE {filters} ORDER BY cosine DESC, m.row LIMIT :limit;

-- name: nearest_approximate
-- kind: routed
WITH near AS MATERIALIZED (
  SELECT v.row, v.data FROM embedding AS v WHERE v.namespace = :namespace AND v.space = :space
  ORDER BY CAST(v.data AS halfvec({dimensions})) <=> (SELECT CAST(:query AS halfvec({dimensions}))) LIMIT :wide)
SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks, m.created_ms, 1 - (CAST(n.data AS vector) <=> (SELECT CAST(:query AS vector))) AS cosine,
  CASE WHEN m.held THEN NULL ELSE m.due_ms END AS due_ms
FROM near AS n JOIN LATERAL (
  SELECT * FROM memory AS x WHERE x.namespace = :namespace AND x.row = n.row LIMIT 1) AS m ON true
WHERE {filters} ORDER BY cosine DESC, m.row LIMIT :limit;

-- name: nearest_among
-- kind: routed
WITH near AS MATERIALIZED (
  SELECT m.row, m.data FROM embedding AS m WHERE m.namespace = :namespace AND m.space = :space AND {among}
  ORDER BY m.data <=> (SELECT CAST(:query AS halfvec)) LIMIT :wide)
SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks, m.created_ms, 1 - (CAST(n.data AS vector) <=> (SELECT CAST(:query AS vector))) AS cosine,
  CASE WHEN m.held THEN NULL ELSE m.due_ms END AS due_ms
FROM near AS n JOIN LATERAL (
  SELECT * FROM memory AS x WHERE x.namespace = :namespace AND x.row = n.row LIMIT 1) AS m ON true
WHERE {filters} ORDER BY cosine DESC, m.row LIMIT :limit;

-- name: nearest_fitting
-- kind: routed
WITH fit AS MATERIALIZED (
  SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks, m.created_ms, CASE WHEN m.held THEN NULL ELSE m.due_ms END AS due_ms
  FROM memory AS m WHERE m.namespace = :namespace AND {filters}),
near AS MATERIALIZED (
  SELECT f.row, f.id, f.session, f.turn, f.speaker, f.asks, f.created_ms, f.due_ms, v.data
  FROM fit AS f JOIN embedding AS v ON v.namespace = :namespace AND v.space = :space AND v.row = f.row
  ORDER BY v.data <=> (SELECT CAST(:query AS halfvec)) LIMIT :limit)
SELECT n.row, n.id, n.session, n.turn, n.speaker, n.asks, n.created_ms, 1 - (CAST(n.data AS vector) <=> (SELECT CAST(:query AS vector))) AS cosine, n.due_ms
FROM near AS n ORDER BY cosine DESC, n.row;

-- name: cosines
-- kind: routed
SELECT v.row, 1 - (CAST(v.data AS vector) <=> (SELECT CAST(:query AS vector))) FROM embedding AS v
WHERE v.namespace = :namespace AND v.space = :space AND v.row = ANY(CAST(:rows AS bigint[]));

-- name: beside
-- kind: routed
SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks, m.created_ms,
  (SELECT 1 - (CAST(v.data AS vector) <=> (SELECT CAST(:query AS vector))) FROM embedding AS v
    WHERE v.namespace = :namespace AND v.space = :space AND v.row = m.row)
FROM unnest(CAST(:sessions AS text[]), CAST(:turns AS bigint[])) AS w(session, turn)
JOIN LATERAL (SELECT * FROM memory AS x
  WHERE x.namespace = :namespace AND x.session = w.session AND x.turn = w.turn AND x.session IS NOT NULL LIMIT 1) AS m ON true
WHERE {filters};

-- name: texts
-- kind: routed
SELECT c.row, c.text, c.packed, m.speaker FROM content AS c JOIN memory AS m ON m.namespace = c.namespace AND m.row = c.row
WHERE c.namespace = :namespace AND c.row = ANY(CAST(:rows AS bigint[]));

-- name: shown
-- kind: routed
SELECT c.row, c.shown, m.speaker FROM content AS c JOIN memory AS m ON m.namespace = c.namespace AND m.row = c.row
WHERE c.namespace = :namespace AND c.row = ANY(CAST(:rows AS bigint[])) AND c.shown IS NOT NULL;

-- --- vectors that are missing

-- --- statistics

-- name: set_approximate
-- kind: routed
UPDATE namespace SET approximate = :space WHERE namespace = :namespace;

-- --- documents beside memories

-- name: documents_named
-- kind: routed
SELECT shelf, id, name, data FROM document
WHERE namespace = :namespace AND shelf = :shelf AND name = ANY(CAST(:names AS text[])) ORDER BY id, name;

-- name: insert_document
-- kind: routed
INSERT INTO document (namespace, shelf, id, name, data)
SELECT n.namespace, i.* FROM namespace AS n CROSS JOIN unnest(CAST(:shelf AS text[]), CAST(:id AS text[]), CAST(:name AS text[]),
  CAST(:data AS text[])) AS i
WHERE n.namespace = :namespace;

-- name: update_document
-- kind: routed
UPDATE document AS d SET data = i.after
FROM unnest(CAST(:shelf AS text[]), CAST(:id AS text[]), CAST(:name AS text[]), CAST(:before AS text[]),
  CAST(:after AS text[])) AS i(shelf, id, name, before, after)
WHERE d.namespace = :namespace AND d.shelf = i.shelf AND d.id = i.id AND d.name = i.name AND d.data = i.before;

-- name: delete_document
-- kind: routed
DELETE FROM document AS d
USING unnest(CAST(:shelf AS text[]), CAST(:id AS text[]), CAST(:name AS text[]), CAST(:before AS text[]))
  AS i(shelf, id, name, before)
WHERE d.namespace = :namespace AND d.shelf = i.shelf AND d.id = i.id AND d.name = i.name AND d.data = i.before;

-- --- the journal against the rows: what a check reads

-- name: lines_about
-- kind: routed
SELECT j.operation, j.target, j.id, j.before, j.after, j.because
FROM journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.id = j.operation
WHERE j.namespace = :namespace AND j.id = ANY(CAST(:ids AS text[])) ORDER BY o.number, j.position;

-- name: lines_of_operations
-- kind: routed
SELECT operation, target, id, before, after, because FROM journal
WHERE namespace = :namespace AND operation = ANY(CAST(:operations AS text[])) ORDER BY operation, position;

-- name: story_of
-- kind: routed
SELECT j.id, j.operation, j.position, j.before, j.after
FROM journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.id = j.operation
WHERE j.namespace = :namespace AND j.target = 'memory' AND j.id = ANY(CAST(:ids AS text[]))
ORDER BY o.number, j.position;

-- Those tables only that searches of the names find; of those that lie over a cluster, what is on this node: nothing.
-- name: size_of_tables
-- kind: admin
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_catalog.pg_class AS c
WHERE c.relkind = 'r' AND pg_table_is_visible(c.oid) AND c.relname IN ('namespace', 'memory', 'content', 'tag', 'posting',
  'embedding', 'link', 'access', 'recall_log', 'idempotency', 'operation', 'journal', 'document', 'lease');

-- Each node is asked once, for the pieces of all tables that lie there: one that is down is waited for once.
-- name: size_on_nodes
-- kind: admin
SELECT concat_ws(':', a.node_name, a.node_port), a.success, a.result
FROM (SELECT array_agg(o.nodename) AS names, array_agg(o.nodeport) AS ports, array_agg(o.command) AS commands FROM (
  SELECT n.nodename, n.nodeport, 'SELECT ' || string_agg(
    format('pg_total_relation_size(%L)', shard_name(s.logicalrelid, s.shardid)), ' + ') AS command
  FROM pg_dist_node AS n JOIN pg_dist_placement AS p ON p.groupid = n.groupid JOIN pg_dist_shard AS s ON s.shardid = p.shardid
  WHERE n.isactive AND n.noderole = 'primary' AND CAST(s.logicalrelid AS text) = ANY(CAST(:tables AS text[]))
    AND concat_ws(':', n.nodename, n.nodeport) <> ALL(CAST(:down AS text[]))
  GROUP BY n.nodename, n.nodeport) AS o) AS nodes
CROSS JOIN LATERAL master_run_on_worker(nodes.names, nodes.ports, nodes.commands, true) AS a;

-- The tables on every node, outside of any transaction there.
-- name: vacuum_on_nodes
-- kind: admin
SELECT concat_ws(':', a.node_name, a.node_port), a.success, a.result
FROM (SELECT array_agg(o.nodename) AS names, array_agg(o.nodeport) AS ports, array_agg(o.command) AS commands FROM (
  SELECT n.nodename, n.nodeport, 'VACUUM ' || string_agg(shard_name(s.logicalrelid, s.shardid), ', ') AS command
  FROM pg_dist_node AS n JOIN pg_dist_placement AS p ON p.groupid = n.groupid JOIN pg_dist_shard AS s ON s.shardid = p.shardid
  WHERE n.isactive AND n.noderole = 'primary' AND CAST(s.logicalrelid AS text) = ANY(CAST(:tables AS text[]))
  GROUP BY n.nodename, n.nodeport) AS o) AS nodes
CROSS JOIN LATERAL master_run_on_worker(nodes.names, nodes.ports, nodes.commands, true) AS a;

-- name: lock_namespace
-- kind: routed
SELECT version FROM namespace WHERE namespace = :namespace FOR UPDATE;

-- name: operations_about
-- kind: routed
SELECT DISTINCT operation FROM journal WHERE namespace = :namespace AND id = ANY(CAST(:ids AS text[]));

-- name: tags_without_content
-- kind: fan-out
SELECT count(*) FROM tag AS t WHERE NOT EXISTS (
  SELECT 1 FROM content AS c WHERE c.namespace = t.namespace AND c.row = t.row AND t.tag = ANY(c.tags));

-- name: contents_without_tags
-- kind: fan-out
SELECT count(*) FROM content AS c CROSS JOIN LATERAL unnest(c.tags) AS j(value) WHERE NOT EXISTS (
  SELECT 1 FROM tag AS t WHERE t.namespace = c.namespace AND t.row = c.row AND t.tag = j.value);

-- name: documents_at
-- kind: routed
SELECT id, shelf, name, data FROM document WHERE namespace = :namespace AND id = ANY(CAST(:ids AS text[]));

-- name: links_of
-- kind: routed
SELECT kind, other, weight FROM link WHERE namespace = :namespace AND id = :id
UNION ALL
SELECT kind, id, weight FROM link WHERE namespace = :namespace AND other = :id
ORDER BY 1, 2;

-- name: links_to
-- kind: routed
SELECT id, kind, weight FROM link WHERE namespace = :namespace AND other = :id ORDER BY id, kind;

-- name: links_at
-- kind: routed
SELECT id, kind, other FROM link WHERE namespace = :namespace AND id = ANY(CAST(:ids AS text[]))
UNION
SELECT id, kind, other FROM link WHERE namespace = :namespace AND other = ANY(CAST(:ids AS text[]))
ORDER BY 1, 2, 3;

-- --- looking for damage

-- name: memories_without_words
-- kind: fan-out
SELECT count(*) FROM content AS c LEFT JOIN (
  SELECT DISTINCT p.namespace, p.first + (e.entry >> 40) AS row
  FROM posting AS p CROSS JOIN LATERAL unnest(p.entries) AS e(entry)) AS w ON w.namespace = c.namespace AND w.row = c.row
WHERE c.length > 1 AND w.row IS NULL;

-- name: wrong_word_counts
-- kind: fan-out
SELECT count(*) FROM namespace AS n WHERE (n.documents, n.length) <> (
  SELECT count(*), coalesce(sum(c.length), 0) FROM content AS c WHERE c.namespace = n.namespace);

-- name: wrong_posting_counts
-- kind: fan-out
SELECT count(*) FROM posting AS p WHERE p.documents <> cardinality(p.entries);

-- name: wrong_last_rows
-- kind: fan-out
SELECT count(*) FROM namespace AS n WHERE n.last_row < (
  SELECT coalesce(max(m.row), 0) FROM memory AS m WHERE m.namespace = n.namespace);

-- name: vectors_of_wrong_size
-- kind: fan-out
SELECT count(*) FROM embedding AS v JOIN space AS s ON s.number = v.space WHERE vector_dims(v.data) <> s.dimensions;

-- name: wrong_vectors
-- kind: routed
SELECT m.id FROM embedding AS v JOIN space AS s ON s.number = v.space AND s.active
  JOIN memory AS m ON m.namespace = v.namespace AND m.row = v.row
WHERE v.namespace = :namespace AND vector_dims(v.data) <> s.dimensions ORDER BY m.id LIMIT :limit;

-- --- the schema itself

-- name: has_meta
-- kind: admin
SELECT EXISTS (SELECT 1 FROM pg_class
  WHERE relname = 'meta' AND relkind IN ('r', 'p') AND relnamespace = CAST(current_schema() AS regnamespace));

-- name: has_tables
-- kind: admin
SELECT count(*) = 3 FROM pg_class WHERE relname IN ('memory', 'content', 'operation') AND relkind IN ('r', 'p')
  AND relnamespace = CAST(current_schema() AS regnamespace);

-- name: create_meta
-- kind: admin
CREATE TABLE IF NOT EXISTS meta (key text COLLATE "C" PRIMARY KEY, value text NOT NULL);

-- name: seed_meta
-- kind: admin
INSERT INTO meta (key, value) VALUES ('schema', '0') ON CONFLICT (key) DO NOTHING;

-- The whole table, before anything else: whoever waits for a row of it keeps it from being distributed.
-- name: lock_meta
-- kind: admin
LOCK TABLE meta IN SHARE ROW EXCLUSIVE MODE;

-- name: read_meta
-- kind: admin
SELECT key, value FROM meta;

-- name: set_schema
-- kind: admin
UPDATE meta SET value = :number WHERE key = 'schema';

-- name: server_clock
-- kind: admin
SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint);

-- name: server_status
-- kind: admin
SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on',
  (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user);

-- name: vector_version
-- kind: admin
SELECT extversion FROM pg_extension WHERE extname = 'vector';

-- name: create_vector
-- kind: admin
CREATE EXTENSION IF NOT EXISTS vector;

-- name: has_citus
-- kind: admin
SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus');

-- name: distributed_tables
-- kind: admin
SELECT CAST(logicalrelid AS text) FROM pg_dist_partition;

-- name: copy_table_to_nodes
-- kind: admin
SELECT create_reference_table(CAST(:table AS regclass));

-- name: gather_table
-- kind: admin
SELECT undistribute_table(CAST(:table AS regclass));

-- name: spread_table
-- kind: admin
SELECT create_distributed_table(CAST(:table AS regclass), 'namespace', colocate_with => CAST(:beside AS text));

-- It takes the place of each table in a fan-out while nodes are down (stores/postgres/distribution.py).
-- name: living_memories
-- kind: fan-out
SELECT * FROM memory WHERE namespace = ANY(CAST(:living AS text[]));

-- Each node is asked for itself, so that the others answer where one is down. What the transaction may see does not
-- reach the shards this way and is set beside the reading, which by OFFSET 0 comes after it.
-- name: living_namespaces
-- kind: admin
SELECT concat_ws(':', a.node_name, a.node_port), a.success, a.result
FROM (SELECT array_agg(o.nodename) AS names, array_agg(o.nodeport) AS ports, array_agg(o.command) AS commands FROM (
  SELECT n.nodename, n.nodeport, format('SELECT coalesce(json_agg(n.namespace), ''[]'') FROM
    (SELECT set_config(''perdure.reach'', ''fan-out'', true), set_config(''perdure.prefix'', %L, true) AS prefix) AS s
    CROSS JOIN LATERAL (SELECT x.namespace FROM (%s) AS x WHERE starts_with(x.namespace, s.prefix) OFFSET 0) AS n',
    CAST(:prefix AS text), string_agg(format('SELECT namespace FROM %s', shard_name(s.logicalrelid, s.shardid)), ' UNION ALL ')) AS command
  FROM pg_dist_node AS n JOIN pg_dist_placement AS p ON p.groupid = n.groupid JOIN pg_dist_shard AS s ON s.shardid = p.shardid
  WHERE n.isactive AND n.noderole = 'primary' AND CAST(s.logicalrelid AS text) = 'namespace'
    AND concat_ws(':', n.nodename, n.nodeport) <> ALL(CAST(:down AS text[]))
  GROUP BY n.nodename, n.nodeport) AS o) AS nodes
CROSS JOIN LATERAL master_run_on_worker(nodes.names, nodes.ports, nodes.commands, true) AS a;

-- An index may be left unfinished by a build that was stopped: it is dropped before the next one.
-- name: near_index_valid
-- kind: admin
SELECT i.indisvalid FROM pg_index AS i WHERE i.indexrelid = to_regclass(:index);

-- name: drop_near_index
-- kind: admin
DROP INDEX CONCURRENTLY IF EXISTS {index};

-- name: create_near_index
-- kind: admin
CREATE INDEX CONCURRENTLY IF NOT EXISTS {index} ON embedding
USING hnsw ((CAST(data AS halfvec({dimensions}))) halfvec_cosine_ops) WHERE namespace = {place} AND space = {space};

-- --- moving a store: each page is read off an index in its order, for which stores/postgres/transfer.py sets the
-- planner's switches

-- name: move_memory_sizes
-- kind: routed
SELECT octet_length(text) + coalesce(octet_length(packed), 0) * 4 FROM content WHERE namespace = :namespace AND row > :row_after ORDER BY row LIMIT :limit;

-- name: move_memory
-- kind: routed
WITH page AS MATERIALIZED (
  SELECT * FROM memory WHERE namespace = :namespace AND row > :row_after ORDER BY row LIMIT :limit)
SELECT m.row, m.id, m.op, m.session, m.turn, m.speaker, {state},
  c.text, c.tags, c.source, c.task, c.metadata, c.shown, c.packed,
  ARRAY(SELECT k.key FROM idempotency AS k WHERE k.namespace = :namespace AND k.id = m.id ORDER BY k.key)
FROM page AS m JOIN content AS c ON c.namespace = :namespace AND c.row = m.row ORDER BY m.row;

-- name: move_vector
-- kind: routed
SELECT v.space, v.row, (SELECT m.id FROM memory AS m WHERE m.namespace = :namespace AND m.row = v.row),
  (SELECT s.name FROM space AS s WHERE s.number = v.space), v.data
FROM embedding AS v
WHERE v.namespace = :namespace AND (v.space, v.row) > (:space_after, :row_after) ORDER BY v.space, v.row LIMIT :limit;

-- name: move_operation
-- kind: routed
SELECT number, id, operation, at_ms, changes, hides, policy, note, undoes, digest, actor FROM operation
WHERE namespace = :namespace AND number > :number_after ORDER BY number LIMIT :limit;

-- name: move_journal_sizes
-- kind: routed
SELECT coalesce(octet_length(j.before), 0) + coalesce(octet_length(j.after), 0)
FROM operation AS o JOIN journal AS j ON j.namespace = o.namespace AND j.operation = o.id
WHERE o.namespace = :namespace AND o.number >= :number_after AND (o.number > :number_after OR j.position > :position_after)
ORDER BY o.number, j.position LIMIT :limit;

-- name: move_journal
-- kind: routed
SELECT o.number, j.position, j.operation, j.position, j.target, j.id, j.before, j.after, j.because
FROM operation AS o JOIN journal AS j ON j.namespace = o.namespace AND j.operation = o.id
WHERE o.namespace = :namespace AND o.number >= :number_after AND (o.number > :number_after OR j.position > :position_after)
ORDER BY o.number, j.position LIMIT :limit;

-- name: number_operations
-- kind: routed
UPDATE namespace SET version = version + :more WHERE namespace = :namespace RETURNING version;

-- --- after erasing for good

-- name: copies_of_server
-- kind: admin
SELECT
  (SELECT count(*) FROM pg_stat_replication) + (SELECT count(*) FROM pg_replication_slots WHERE NOT active),
  current_setting('archive_mode');

-- name: copies_of_nodes
-- kind: admin
SELECT concat_ws(':', nodename, nodeport), success, result FROM run_command_on_workers('SELECT json_build_array(
  (SELECT count(*) FROM pg_stat_replication) + (SELECT count(*) FROM pg_replication_slots WHERE NOT active),
  current_setting(''archive_mode''))');

-- --- the schema, and the index of words against the texts: what a whole check reads, and what makes them anew

-- What a table is and has, as (what, name, how it is). Of functions only those that take the name of one of PostgreSQL's own.
-- name: schema
-- kind: admin
SELECT 'table' AS what, c.relname AS name, concat_ws(' ', c.relkind, c.relrowsecurity, c.relforcerowsecurity) AS body
FROM pg_class AS c WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
UNION ALL
SELECT 'column', concat(c.relname, '.', a.attname), concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull,
  a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'p')
UNION ALL
SELECT 'index', concat(t.relname, '.', c.relname), concat_ws(' ', i.indisunique, i.indisvalid, i.indisready,
  (SELECT string_agg(pg_get_indexdef(i.indexrelid, k, true), ', ' ORDER BY k) FROM generate_series(1, i.indnatts) AS k),
  pg_get_expr(i.indpred, i.indrelid))
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_class AS t ON t.oid = i.indrelid
WHERE c.relnamespace = CAST(current_schema() AS regnamespace)
UNION ALL
SELECT 'policy', concat(c.relname, '.', p.polname), concat_ws(' ', p.polcmd, p.polpermissive, p.polroles,
  pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid))
FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid WHERE c.relnamespace = CAST(current_schema() AS regnamespace)
UNION ALL
SELECT 'trigger', concat(c.relname, '.', t.tgname), ''
FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND NOT t.tgisinternal
UNION ALL
SELECT 'rule', concat(c.relname, '.', r.rulename), ''
FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND r.rulename <> '_RETURN'
UNION ALL
SELECT 'constraint', concat(c.relname, '.', k.conname), concat(k.contype)
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND k.contype IN ('c', 'f', 'x')
UNION ALL
SELECT 'function', concat(f.proname, '(', pg_get_function_identity_arguments(f.oid), ')'), ''
FROM pg_proc AS f WHERE f.pronamespace = CAST(current_schema() AS regnamespace)
  AND f.proname IN (SELECT o.proname FROM pg_proc AS o WHERE o.pronamespace = CAST('pg_catalog' AS regnamespace))
  AND NOT EXISTS (SELECT 1 FROM pg_depend AS e WHERE e.objid = f.oid AND e.deptype = 'e');

-- name: texts_after
-- kind: routed
SELECT m.row, m.id, c.text, c.packed, m.speaker
FROM memory AS m JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row
WHERE m.namespace = :namespace AND m.row > :row_after ORDER BY m.row LIMIT :limit;

-- A line of postings holds rows from `first` on.
-- name: postings_between
-- kind: routed
SELECT p.term, p.first, p.entries FROM posting AS p
WHERE p.namespace = :namespace AND p.first > CAST(:row_after AS bigint) - :span AND p.first <= CAST(:until_row AS bigint);

-- name: clear_postings
-- kind: routed
DELETE FROM posting WHERE namespace = :namespace;

-- name: fill_tags
-- kind: routed
INSERT INTO tag (namespace, tag, row)
SELECT c.namespace, t.tag, c.row FROM content AS c CROSS JOIN LATERAL unnest(c.tags) AS t(tag)
WHERE c.namespace = :namespace AND t.tag IS NOT NULL;

-- name: clear_unreadable_recalls
-- kind: routed
DELETE FROM recall_log WHERE namespace = :namespace AND array_position(hits, NULL) IS NOT NULL;

-- name: restore_namespace
-- kind: routed
INSERT INTO namespace (namespace, version, created_ms, policy)
SELECT m.namespace, 0, min(m.created_ms), '' FROM memory AS m WHERE m.namespace = :namespace GROUP BY m.namespace
ON CONFLICT (namespace) DO NOTHING;

-- name: renew_lengths
-- kind: routed
UPDATE content AS c SET length = i.length
FROM unnest(CAST(:row AS bigint[]), CAST(:length AS integer[])) AS i(row, length)
WHERE c.namespace = :namespace AND c.row = i.row AND c.length <> i.length;

-- name: recount
-- kind: routed
UPDATE namespace AS n SET
  version = greatest(n.version, (SELECT coalesce(max(o.number), 0) FROM operation AS o WHERE o.namespace = :namespace)),
  documents = (SELECT count(*) FROM content AS c WHERE c.namespace = :namespace),
  length = (SELECT coalesce(sum(c.length), 0) FROM content AS c WHERE c.namespace = :namespace),
  vectors = (SELECT count(*) FROM embedding AS v WHERE v.namespace = :namespace),
  last_row = greatest(n.last_row, (SELECT coalesce(max(m.row), 0) FROM memory AS m WHERE m.namespace = :namespace))
WHERE n.namespace = :namespace;

-- --- lines of the journal, which a file keeps in another form

-- name: journal_of_operation
-- kind: routed
SELECT target, id, before, after, because FROM journal WHERE namespace = :namespace AND operation = :operation
ORDER BY position;

-- name: journal_of_memory
-- kind: routed
SELECT j.operation, o.operation, j.namespace, o.at_ms, j.target, j.id, j.before, j.after, j.because, o.policy
FROM journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.id = j.operation
WHERE j.namespace = :namespace AND j.id = :id ORDER BY o.number, j.position;

-- name: gone_by_day
-- kind: routed
SELECT m.status_ms / 86400000, coalesce(o.operation, ''), count(*) FROM memory AS m
LEFT JOIN operation AS o ON o.namespace = m.namespace AND o.id = m.op
WHERE m.namespace = :namespace AND m.status <> 'active' AND m.status_ms >= :since GROUP BY 1, 2;

-- name: tally
-- kind: fan-out
SELECT namespace, kind, tier, status, count(*) FROM memory GROUP BY namespace, kind, tier, status
ORDER BY namespace, kind, tier, status;

-- name: tally_of
-- kind: routed
SELECT namespace, kind, tier, status, count(*) FROM memory WHERE namespace = :namespace
GROUP BY namespace, kind, tier, status ORDER BY namespace, kind, tier, status;

-- What became of memories, by the newest lines about them. What was undone did not happen, and its undoing neither.
-- name: events
-- kind: routed
SELECT CASE
    WHEN before IS NULL AND after IS NULL THEN CASE operation WHEN 'erase' THEN 'erased' ELSE '' END
    WHEN before IS NULL THEN 'stored'
    WHEN after ->> 'status' <> before ->> 'status' THEN after ->> 'status'
    WHEN after ->> 'tier' <> before ->> 'tier' THEN 'moved'
    WHEN after ->> 'held' > before ->> 'held' THEN 'held' ELSE '' END,
  CAST(coalesce(after ->> 'form' <> before ->> 'form' AND after ->> 'form' <> 'full', false) AS integer), recent, count(*)
FROM (
  SELECT o.operation, CAST(o.at_ms >= :day AS integer) AS recent, CAST(j.before AS json) AS before, CAST(j.after AS json) AS after
  FROM operation AS o JOIN journal AS j ON j.namespace = o.namespace AND j.operation = o.id AND j.target = 'memory'
  WHERE o.namespace = :namespace AND o.at_ms >= :week AND o.undoes IS NULL AND NOT EXISTS (
    SELECT 1 FROM operation AS u WHERE u.namespace = :namespace AND u.undoes = o.id AND NOT EXISTS (
      SELECT 1 FROM operation AS r WHERE r.namespace = :namespace AND r.undoes = u.id))
  ORDER BY o.at_ms DESC LIMIT :most
) AS line
GROUP BY 1, 2, 3;

-- name: journalled_ids
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND id > :after
UNION
SELECT id FROM journal WHERE namespace = :namespace AND id > :after
ORDER BY 1 LIMIT :limit;

-- name: bytes_of_journal
-- kind: routed
SELECT CAST(coalesce(sum(length(id) + length(operation) + length(because) + coalesce(length(before), 0)
  + coalesce(length(after), 0)), 0) AS bigint) FROM journal WHERE namespace = :namespace;

-- name: lines_without_operation
-- kind: fan-out
SELECT count(*) FROM journal AS j WHERE NOT EXISTS (
  SELECT 1 FROM operation AS o WHERE o.namespace = j.namespace AND o.id = j.operation);

-- name: short_journals
-- kind: fan-out
SELECT count(*) FROM operation AS o WHERE o.changes <> (
  SELECT count(*) FROM journal AS j WHERE j.namespace = o.namespace AND j.operation = o.id)
  AND NOT EXISTS (SELECT 1 FROM document AS d WHERE d.namespace = o.namespace AND d.shelf = 'lost' AND d.id = o.id);

-- name: unnamed_operations
-- kind: routed
SELECT DISTINCT j.operation FROM journal AS j WHERE j.namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.namespace = :namespace AND o.id = j.operation);

-- name: put_line
-- kind: routed
INSERT INTO journal AS j (namespace, operation, position, target, id, before, after, because)
VALUES (:namespace, :operation, :position, :target, :id, :before, :after, :because)
ON CONFLICT (namespace, operation, position) DO UPDATE SET
  target = excluded.target, id = excluded.id, before = excluded.before, after = excluded.after, because = excluded.because;

-- name: blank_journal
-- kind: routed
UPDATE journal SET before = NULL, after = NULL, because = :because
WHERE namespace = :namespace AND id = :id AND operation <> :operation;

-- name: rename_journal
-- kind: routed
UPDATE journal SET id = :other WHERE namespace = :namespace AND id = :id;

-- name: operation_notes
-- kind: routed
SELECT id, note FROM operation WHERE namespace = :namespace AND note <> '';

-- name: journal_page
-- kind: routed
SELECT operation, position, before, after, because FROM journal
WHERE namespace = :namespace AND (operation, position) > (:operation, :position)
ORDER BY operation, position LIMIT :limit;

-- name: redact_journal
-- kind: routed
UPDATE journal SET before = :before, after = :after, because = :because
WHERE namespace = :namespace AND operation = :operation AND position = :position;

-- What the statements words_of_... return is searched once more. Without patterns they return all rows.

-- name: words_of_memories
-- kind: fan-out
SELECT 'memory', namespace, id, packed, text, shown, source, task, array_to_string(tags, ' '), CAST(metadata AS text)
FROM content
WHERE (CAST(:patterns AS text[]) IS NULL OR packed IS NOT NULL
  OR lower(concat_ws(chr(1), text, shown, source, task, array_to_string(tags, ' '), CAST(metadata AS text)) COLLATE "C")
    LIKE ANY (CAST(:patterns AS text[])));

-- name: words_of_journal
-- kind: fan-out
SELECT 'journal line of operation', namespace, operation, NULL, before, after, because FROM journal
WHERE (CAST(:patterns AS text[]) IS NULL
  OR lower(concat_ws(chr(1), before, after, because) COLLATE "C") LIKE ANY (CAST(:patterns AS text[])));

-- name: words_of_documents
-- kind: fan-out
SELECT 'document of', namespace, id, NULL, data FROM document
WHERE (CAST(:patterns AS text[]) IS NULL
  OR lower(concat_ws(chr(1), data) COLLATE "C") LIKE ANY (CAST(:patterns AS text[])));

-- name: words_of_recalls
-- kind: fan-out
SELECT 'recall', namespace, id, NULL, query FROM recall_log
WHERE (CAST(:patterns AS text[]) IS NULL
  OR lower(concat_ws(chr(1), query) COLLATE "C") LIKE ANY (CAST(:patterns AS text[])));

-- name: words_of_notes
-- kind: fan-out
SELECT 'note of operation', namespace, id, NULL, note FROM operation
WHERE note <> '' AND (CAST(:patterns AS text[]) IS NULL
  OR lower(concat_ws(chr(1), note) COLLATE "C") LIKE ANY (CAST(:patterns AS text[])));

-- name: locate
-- kind: fan-out
SELECT namespace FROM memory WHERE id = :id ORDER BY namespace;

-- name: find_ids
-- kind: fan-out
SELECT id FROM memory WHERE id >= :lowest AND id < :beyond ORDER BY id LIMIT :limit;

-- name: keys_without_memory
-- kind: fan-out
SELECT count(*) FROM idempotency AS i WHERE NOT EXISTS (
  SELECT 1 FROM memory AS m WHERE m.namespace = i.namespace AND m.id = i.id);

-- name: clear_orphan_keys
-- kind: routed
DELETE FROM idempotency WHERE namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = :namespace AND m.id = idempotency.id);
