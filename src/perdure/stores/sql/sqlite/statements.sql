-- Every statement of the SQLite store, by name. `kind` is routed (names one namespace), fan-out (may see several and
-- only reads), admin (the file itself) or part (fills a slot of the others). Lists are bound as JSON text. Only
-- statements that run once for each of many rows bind by position: names would cost them time.
--
-- CROSS JOIN fixes the order of the loops: from the short list to the rows, whatever the planner thinks of the list.
-- NOT INDEXED makes it look rows up by their address: else it reads a whole namespace through an index.

-- name: schema_size
-- kind: admin
SELECT count(*) FROM sqlite_schema;

-- name: bump_version
-- kind: routed
INSERT INTO namespace (namespace, version, created_ms, policy) VALUES (:namespace, 1, :at, :policy)
ON CONFLICT (namespace) DO UPDATE SET version = version + 1
RETURNING version;

-- name: namespace_version
-- kind: routed
SELECT version FROM namespace WHERE namespace = :namespace;

-- name: namespace_policy
-- kind: routed
UPDATE namespace SET policy = :after WHERE namespace = :namespace AND policy = :before;

-- name: count_vectors
-- kind: routed
UPDATE namespace SET vectors = vectors + :more WHERE namespace = :namespace RETURNING vectors - packed;

-- name: count_packed
-- kind: routed
UPDATE namespace SET packed = packed + :more WHERE namespace = :namespace;

-- name: next_row
-- kind: admin
SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'memory';

-- name: insert_memory
-- kind: routed
INSERT INTO memory (namespace, row, id, kind, scope, tier, status, pinned, importance, confidence, uniqueness,
  created_ms, recorded_ms, anchor_ms, access_count, access_mass, tier_accesses, accessed_ms, access2_ms, access3_ms,
  reinforcements, boosted, boost_day, validated_ms, tier_ms, status_ms, due_ms, held, strength,
  level, strength_ms, stability, difficulty, form, form_ms, firm, tokens, decayed, decayed_ms, session, turn, speaker,
  op, asks)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
  ?, ?, ?, ?, ?, ?, ?, ?);

-- name: twin
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

-- name: op_of
-- kind: routed
SELECT op FROM memory WHERE namespace = :namespace AND id = :id;

-- name: update_memory
-- kind: routed
UPDATE memory SET {sets:COLUMN = :after_COLUMN}
WHERE namespace = :namespace AND id = :id AND {tests:COLUMN IS :before_COLUMN};

-- name: set_changed
-- kind: part
changed = :version;

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

-- name: delete_vectors
-- kind: routed
DELETE FROM vector WHERE namespace = :namespace AND row = :row;

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

-- name: recalls
-- kind: routed
SELECT id, at_ms, query, hits FROM recall_log WHERE namespace = :namespace ORDER BY id DESC LIMIT :limit;

-- name: insert_key
-- kind: routed
INSERT INTO idempotency (namespace, key, id) VALUES (?, ?, ?);

-- name: delete_key
-- kind: routed
DELETE FROM idempotency WHERE namespace = :namespace AND key = :key AND id = :id;

-- name: keys_of
-- kind: routed
SELECT key FROM idempotency WHERE namespace = :namespace AND id = :id;

-- name: insert_operation
-- kind: routed
INSERT INTO operation (namespace, id, operation, at_ms, changes, hides, policy, note, undoes)
VALUES (:namespace, :id, :operation, :at_ms, :changes, :hides, :policy, :note, :undoes);

-- name: insert_journal
-- kind: routed
INSERT INTO journal (namespace, operation, position, target, id, before, after, because)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: release_held
-- kind: routed
UPDATE memory SET held = 0 WHERE namespace = :namespace AND held = 1 AND due_ms IS NOT NULL;

-- name: records
-- kind: routed
SELECT m.id, m.op, m.session, m.turn, m.speaker, m.kind, m.scope, m.tier, m.status, m.pinned, m.importance,
  m.confidence, m.uniqueness, m.created_ms, m.recorded_ms, m.anchor_ms, m.access_count, m.access_mass,
  m.tier_accesses, m.accessed_ms, m.access2_ms, m.access3_ms, m.reinforcements, m.boosted, m.boost_day,
  m.validated_ms, m.tier_ms, m.status_ms, m.due_ms, m.held, m.strength, m.level, m.strength_ms, m.stability, m.difficulty, m.form,
  m.form_ms, m.firm, m.tokens, m.decayed, m.decayed_ms,
  c.text, c.tags, c.source, c.task, c.metadata, c.shown, c.packed
FROM json_each(:ids) AS i CROSS JOIN memory AS m ON m.namespace = :namespace AND m.id = i.value
  CROSS JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row;

-- name: states
-- kind: routed
SELECT m.id, m.op, m.kind, m.scope, m.tier, m.status, m.pinned, m.importance, m.confidence, m.uniqueness,
  m.created_ms, m.recorded_ms, m.anchor_ms, m.access_count, m.access_mass, m.tier_accesses, m.accessed_ms,
  m.access2_ms, m.access3_ms, m.reinforcements, m.boosted, m.boost_day, m.validated_ms, m.tier_ms, m.status_ms,
  m.due_ms, m.held, m.strength, m.level, m.strength_ms, m.stability, m.difficulty, m.form,
  m.form_ms, m.firm, m.tokens, m.decayed, m.decayed_ms
FROM json_each(:ids) AS i CROSS JOIN memory AS m ON m.namespace = :namespace AND m.id = i.value;

-- name: accesses
-- kind: routed
SELECT id, at_ms, times FROM access
WHERE namespace = :namespace AND id IN (SELECT value FROM json_each(:ids)) AND at_ms <= :until ORDER BY id, at_ms;

-- name: vectors_of
-- kind: routed
SELECT m.id, v.data
FROM json_each(:ids) AS i CROSS JOIN memory AS m ON m.namespace = :namespace AND m.id = i.value
  CROSS JOIN vector AS v ON v.namespace = m.namespace AND v.space = :space AND v.row = m.row;

-- name: listed
-- kind: routed
SELECT m.id FROM memory AS m
WHERE m.namespace = :namespace AND {filters} AND (m.created_ms, m.id) < (:before_ms, :before_id)
ORDER BY m.created_ms DESC, m.id DESC LIMIT :limit;

-- name: locate
-- kind: fan-out
SELECT namespace FROM memory WHERE id = :id;

-- name: namespaces
-- kind: fan-out
SELECT namespace FROM namespace ORDER BY namespace;

-- name: due_namespaces
-- kind: fan-out
SELECT n.namespace, n.policy FROM namespace AS n
WHERE substr(n.policy, 1, length(:policy)) <> :policy
  OR EXISTS (SELECT 1 FROM access AS a WHERE a.namespace = n.namespace AND a.at_ms <= :now)
  OR EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = n.namespace AND m.held = 0 AND m.due_ms IS NOT NULL
             AND m.due_ms <= :now)
ORDER BY n.namespace;

-- name: due_ids
-- kind: routed
SELECT id, due_ms, row FROM memory
WHERE namespace = :namespace AND held = 0 AND due_ms IS NOT NULL AND due_ms <= :now AND (due_ms, row) > (:due, :row)
ORDER BY due_ms, row LIMIT :limit;

-- name: accessed_ids
-- kind: routed
SELECT DISTINCT id FROM access WHERE namespace = :namespace AND at_ms <= :now AND id > :after ORDER BY id LIMIT :limit;

-- name: gauges
-- kind: routed
SELECT m.id, m.op, m.tier, m.pinned, m.importance, m.access_count, m.anchor_ms, m.decayed, m.decayed_ms,
  substr(coalesce(c.shown, c.text), 1, :width)
FROM memory AS m CROSS JOIN content AS c ON c.row = m.row
WHERE m.namespace = :namespace AND m.id > :after AND m.status = 'active' AND c.namespace = :namespace
ORDER BY m.id LIMIT :limit;

-- Facts that nobody has spoken of since an instant, longest first: all rows of the namespace are looked at, none is read.

-- name: unsaid
-- kind: routed
SELECT id FROM memory
WHERE namespace = :namespace AND kind = 'fact' AND status = 'active' AND reinforcements < :times
  AND coalesce(validated_ms, created_ms) < :until
ORDER BY coalesce(validated_ms, created_ms), id LIMIT :limit;

-- name: all_ids
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND id > :after ORDER BY id LIMIT :limit;

-- name: fading
-- kind: routed
SELECT id FROM memory
WHERE namespace = :namespace AND held = 0 AND due_ms IS NOT NULL AND due_ms <= :until AND tier = 'cold'
  AND status = 'active'
ORDER BY due_ms LIMIT :limit;

-- name: sampled
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND status = 'active' AND row % :step = 0 LIMIT :limit;

-- name: at_hand
-- kind: routed
SELECT m.id FROM memory AS m WHERE m.namespace = :namespace AND {filters}
ORDER BY m.pinned DESC, CASE m.tier WHEN 'hot' THEN 0 WHEN 'vault' THEN 0 WHEN 'warm' THEN 1 ELSE 2 END, m.anchor_ms DESC
LIMIT :limit;

-- name: any_access
-- kind: routed
SELECT EXISTS (SELECT 1 FROM access WHERE namespace = :namespace);

-- name: visible_count
-- kind: routed
SELECT (SELECT count(*) FROM memory WHERE namespace = :namespace)
     - (SELECT count(*) FROM memory WHERE namespace = :namespace AND status <> 'active');

-- name: hidden_since
-- kind: routed
SELECT coalesce(sum(hides), 0) FROM operation AS o WHERE o.namespace = :namespace AND o.at_ms >= :since
  AND NOT EXISTS (SELECT 1 FROM operation AS u WHERE u.namespace = :namespace AND u.undoes = o.id);

-- name: find_digests
-- kind: routed
SELECT c.id FROM json_each(:digests) AS d CROSS JOIN content AS c ON c.namespace = :namespace AND c.digest = d.value
ORDER BY c.row;

-- name: find_key
-- kind: routed
SELECT id FROM idempotency WHERE namespace = :namespace AND key = :key;

-- name: last_turn
-- kind: routed
SELECT turn FROM memory WHERE namespace = :namespace AND session = :session ORDER BY turn DESC LIMIT 1;

-- name: operation
-- kind: fan-out
SELECT o.namespace, o.id, o.operation, o.at_ms, o.changes, o.hides, o.policy, o.note, o.undoes,
  (SELECT max(u.id) FROM operation AS u WHERE u.namespace = o.namespace AND u.undoes = o.id)
FROM operation AS o WHERE o.id = :id;

-- name: operations
-- kind: fan-out
SELECT o.namespace, o.id, o.operation, o.at_ms, o.changes, o.hides, o.policy, o.note, o.undoes,
  (SELECT max(u.id) FROM operation AS u WHERE u.namespace = o.namespace AND u.undoes = o.id)
FROM operation AS o WHERE (:namespace IS NULL OR o.namespace = :namespace) ORDER BY o.number DESC LIMIT :limit;

-- name: journal_of_operation
-- kind: routed
SELECT target, id, before, after, because FROM journal
WHERE namespace = :namespace AND operation = :operation ORDER BY position;

-- name: journal_of_memory
-- kind: routed
SELECT j.operation, o.operation, j.namespace, o.at_ms, j.target, j.id, j.before, j.after, j.because, o.policy
FROM journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.id = j.operation
WHERE j.namespace = :namespace AND j.id = :id ORDER BY o.number, j.position;

-- name: links_of
-- kind: routed
SELECT kind, other, weight FROM link WHERE namespace = :namespace AND id = :id
UNION ALL
SELECT kind, id, weight FROM link WHERE namespace = :namespace AND other = :id
ORDER BY 1, 2;

-- name: links_to
-- kind: routed
SELECT id, kind, weight FROM link WHERE namespace = :namespace AND other = :id ORDER BY id, kind;

-- name: linked
-- kind: routed
SELECT id, other, weight FROM link
WHERE namespace = :namespace AND kind = :kind AND (id, other) > (:id_after, :other_after)
ORDER BY id, other LIMIT :limit;

-- name: active_space
-- kind: admin
SELECT number, model, dimensions, version FROM space WHERE active = 1;

-- name: space_of
-- kind: admin
SELECT number FROM space WHERE name = :name;

-- name: insert_space
-- kind: admin
INSERT INTO space (name, model, dimensions, version, active)
VALUES (:name, :model, :dimensions, :version, 0);

-- name: activate_space
-- kind: admin
UPDATE space SET active = (number = :number);

-- name: without_vector
-- kind: routed
SELECT m.row, m.id, c.text, c.packed, m.speaker FROM memory AS m JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row
WHERE m.namespace = :namespace AND m.row > :after
  AND NOT EXISTS (SELECT 1 FROM vector AS v WHERE v.namespace = m.namespace AND v.space = :space AND v.row = m.row)
ORDER BY m.row LIMIT :limit;

-- name: count_without_vector
-- kind: fan-out
SELECT count(*) FROM memory AS m WHERE (:namespace IS NULL OR m.namespace = :namespace) AND m.status = 'active'
  AND NOT EXISTS (SELECT 1 FROM vector AS v WHERE v.namespace = m.namespace AND v.space = :space AND v.row = m.row);

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

-- name: filter_active
-- kind: part
m.status = 'active';

-- name: filter_kinds
-- kind: part
m.kind IN (SELECT value FROM json_each(:kinds));

-- name: filter_scopes
-- kind: part
m.scope IN (SELECT value FROM json_each(:scopes));

-- name: filter_session
-- kind: part
m.session = :session;

-- name: filter_shared
-- kind: part
m.scope = 'long_term';

-- name: filter_inside
-- kind: part
(m.scope = 'long_term' OR m.session = :inside);

-- name: filter_since
-- kind: part
m.created_ms >= :since;

-- name: filter_until
-- kind: part
m.created_ms < :until;

-- name: filter_as_of
-- kind: part
(m.kind = 'fact' OR m.recorded_ms <= :as_of);

-- name: filter_known_at
-- kind: part
m.recorded_ms <= :known_at;

-- name: filter_confidence
-- kind: part
m.confidence >= :min_confidence;

-- name: filter_tags
-- kind: part
(SELECT count(*) FROM tag AS t WHERE t.namespace = m.namespace AND t.row = m.row
  AND t.tag IN (SELECT value FROM json_each(:tags))) = :tag_count;

-- name: passing
-- kind: routed
SELECT m.row FROM memory AS m WHERE m.namespace = :namespace AND {filters};

-- name: narrow
-- kind: routed
SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks FROM memory AS m NOT INDEXED
WHERE m.namespace = :namespace AND m.row IN (SELECT value FROM json_each(:rows)) AND {filters};

-- name: beside
-- kind: routed
SELECT m.row, m.id, m.session, m.turn, m.speaker, m.asks
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

-- name: vectors_at
-- kind: routed
SELECT row, data FROM vector
WHERE namespace = :namespace AND space = :space AND row IN (SELECT value FROM json_each(:rows));

-- name: document_frequency
-- kind: admin
SELECT doc FROM vocabulary WHERE term = :term;

-- name: best_by_words
-- kind: fan-out
SELECT rowid, bm25(words, 1.0, 0.0) AS score FROM words WHERE words MATCH :query ORDER BY score LIMIT :limit;

-- name: holding
-- kind: fan-out
SELECT rowid FROM words WHERE words MATCH :query LIMIT :limit;

-- name: merge_words
-- kind: admin
INSERT INTO words (words) VALUES ('optimize');

-- name: check_words
-- kind: admin
INSERT INTO words (words, rank) VALUES ('integrity-check', 0);

-- name: tally
-- kind: fan-out
SELECT namespace, kind, tier, status, count(*) FROM memory WHERE :namespace IS NULL OR namespace = :namespace
GROUP BY namespace, kind, tier, status;

-- name: count_due
-- kind: fan-out
SELECT count(*) FROM memory
WHERE (:namespace IS NULL OR namespace = :namespace) AND due_ms IS NOT NULL AND due_ms <= :now;

-- name: memories_without_content
-- kind: fan-out
SELECT count(*) FROM memory AS m WHERE NOT EXISTS
  (SELECT 1 FROM content AS c WHERE c.namespace = m.namespace AND c.row = m.row AND c.id = m.id);

-- name: contents_without_memory
-- kind: fan-out
SELECT count(*) FROM content AS c WHERE NOT EXISTS
  (SELECT 1 FROM memory AS m WHERE m.namespace = c.namespace AND m.row = c.row);

-- name: memories_without_words
-- kind: fan-out
SELECT count(*) FROM memory AS m WHERE NOT EXISTS
  (SELECT 1 FROM words_docsize AS d WHERE d.id = m.row);

-- name: words_without_memory
-- kind: fan-out
SELECT count(*) FROM words_docsize AS d WHERE NOT EXISTS
  (SELECT 1 FROM memory AS m WHERE m.row = d.id);

-- name: vectors_without_memory
-- kind: fan-out
SELECT count(*) FROM vector AS v WHERE NOT EXISTS
  (SELECT 1 FROM memory AS m WHERE m.namespace = v.namespace AND m.row = v.row);

-- name: vectors_of_wrong_size
-- kind: fan-out
SELECT count(*) FROM vector AS v JOIN space AS s ON s.number = v.space
WHERE length(v.data) <> s.dimensions;

-- name: lines_without_operation
-- kind: fan-out
SELECT count(*) FROM journal AS j WHERE NOT EXISTS
  (SELECT 1 FROM operation AS o WHERE o.namespace = j.namespace AND o.id = j.operation);

-- name: short_journals
-- kind: fan-out
SELECT count(*) FROM operation AS o WHERE o.changes <>
  (SELECT count(*) FROM journal AS j WHERE j.namespace = o.namespace AND j.operation = o.id);

-- name: accesses_without_memory
-- kind: fan-out
SELECT count(*) FROM access AS a WHERE NOT EXISTS
  (SELECT 1 FROM memory AS m WHERE m.namespace = a.namespace AND m.id = a.id);

-- name: keys_without_memory
-- kind: fan-out
SELECT count(*) FROM idempotency AS i WHERE NOT EXISTS
  (SELECT 1 FROM memory AS m WHERE m.namespace = i.namespace AND m.id = i.id);

-- name: memories_without_namespace
-- kind: fan-out
SELECT count(*) FROM memory AS m WHERE NOT EXISTS
  (SELECT 1 FROM namespace AS n WHERE n.namespace = m.namespace);

-- Documents beside memories: memberships of hyperedges, reviews, outcomes, sessions, upkeep (records/document.py).

-- name: insert_document
-- kind: routed
INSERT INTO document (namespace, shelf, id, name, data) VALUES (:namespace, :shelf, :id, :name, :data);

-- name: update_document
-- kind: routed
UPDATE document SET data = :after
WHERE namespace = :namespace AND shelf = :shelf AND id = :id AND name = :name AND data = :before;

-- name: delete_document
-- kind: routed
DELETE FROM document
WHERE namespace = :namespace AND shelf = :shelf AND id = :id AND name = :name AND data = :before;

-- name: documents
-- kind: routed
SELECT shelf, id, name, data FROM document
WHERE namespace = :namespace AND shelf = :shelf AND (id, name) > (:id, :name) ORDER BY id, name LIMIT :limit;

-- name: documents_of
-- kind: routed
SELECT shelf, id, name, data FROM document
WHERE namespace = :namespace AND shelf = :shelf AND id IN (SELECT value FROM json_each(:ids)) ORDER BY id, name;

-- name: documents_named
-- kind: routed
SELECT shelf, id, name, data FROM document
WHERE namespace = :namespace AND shelf = :shelf AND name IN (SELECT value FROM json_each(:names)) ORDER BY id, name;

-- name: documents_about
-- kind: routed
SELECT shelf, id, name, data FROM document
WHERE namespace = :namespace AND id = :id ORDER BY shelf, name;

-- name: of_task
-- kind: routed
SELECT c.id FROM content AS c WHERE c.namespace = :namespace AND c.task = :task AND c.task IS NOT NULL
  AND c.id > :after ORDER BY c.id LIMIT :limit;

-- name: of_session
-- kind: routed
SELECT m.id FROM memory AS m WHERE m.namespace = :namespace AND m.session = :session AND m.session IS NOT NULL
  AND m.id > :after ORDER BY m.id LIMIT :limit;

-- name: visible_tokens
-- kind: routed
SELECT coalesce(sum(tokens), 0) FROM memory WHERE namespace = :namespace AND status = 'active';

-- name: take_lease
-- kind: routed
INSERT INTO lease (namespace, owner, until_ms, epoch) VALUES (:namespace, :owner, :until, 1)
ON CONFLICT (namespace) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms, epoch = epoch + 1
WHERE until_ms <= :now OR owner = excluded.owner
RETURNING epoch;

-- name: hold_lease
-- kind: routed
UPDATE lease SET until_ms = max(until_ms, :until) WHERE namespace = :namespace AND owner = :owner AND epoch = :epoch
RETURNING epoch;

-- name: release_lease
-- kind: routed
UPDATE lease SET until_ms = 0 WHERE namespace = :namespace AND owner = :owner AND epoch = :epoch;

-- Moving a store: the cursor's columns first, then those of the part (records/transfer.py). Rows of `memory` and
-- `operation` are found by their address, which is the order: else every page would sort the namespace anew.

-- name: all_spaces
-- kind: admin
SELECT model, dimensions, version, active FROM space ORDER BY number;

-- name: move_namespace
-- kind: routed
SELECT n.namespace, n.created_ms, n.policy FROM namespace AS n
WHERE n.namespace = :namespace AND n.namespace > :namespace_after LIMIT :limit;

-- name: move_memory
-- kind: routed
SELECT m.row, m.id, m.op, m.session, m.turn, m.speaker, m.kind, m.scope, m.tier, m.status, m.pinned, m.importance,
  m.confidence, m.uniqueness, m.created_ms, m.recorded_ms, m.anchor_ms, m.access_count, m.access_mass,
  m.tier_accesses, m.accessed_ms, m.access2_ms, m.access3_ms, m.reinforcements, m.boosted, m.boost_day,
  m.validated_ms, m.tier_ms, m.status_ms, m.due_ms, m.held, m.strength, m.level, m.strength_ms, m.stability, m.difficulty, m.form,
  m.form_ms, m.firm, m.tokens, m.decayed, m.decayed_ms,
  c.text, c.tags, c.source, c.task, c.metadata, c.shown, c.packed,
  (SELECT json_group_array(k.key) FROM idempotency AS k WHERE k.namespace = m.namespace AND k.id = m.id)
FROM memory AS m NOT INDEXED
  CROSS JOIN content AS c NOT INDEXED ON c.namespace = m.namespace AND c.row = m.row
WHERE m.namespace = :namespace AND m.row > :row_after ORDER BY m.row LIMIT :limit;

-- name: move_vector
-- kind: routed
SELECT v.space, v.row, m.id, s.name, v.data
FROM vector AS v CROSS JOIN memory AS m NOT INDEXED ON m.namespace = v.namespace AND m.row = v.row
  CROSS JOIN space AS s ON s.number = v.space
WHERE v.namespace = :namespace AND (v.space, v.row) > (:space_after, :row_after) ORDER BY v.space, v.row LIMIT :limit;

-- name: move_link
-- kind: routed
SELECT id, kind, other, id, kind, other, weight FROM link
WHERE namespace = :namespace AND (id, kind, other) > (:id_after, :kind_after, :other_after)
ORDER BY id, kind, other LIMIT :limit;

-- name: move_access
-- kind: routed
SELECT id, at_ms, id, at_ms, times FROM access
WHERE namespace = :namespace AND (id, at_ms) > (:id_after, :at_ms_after) ORDER BY id, at_ms LIMIT :limit;

-- name: move_recall
-- kind: routed
SELECT id, id, at_ms, query, hits FROM recall_log
WHERE namespace = :namespace AND id > :id_after ORDER BY id LIMIT :limit;

-- name: move_document
-- kind: routed
SELECT shelf, id, name, shelf, id, name, data FROM document
WHERE namespace = :namespace AND (shelf, id, name) > (:shelf_after, :id_after, :name_after)
ORDER BY shelf, id, name LIMIT :limit;

-- name: move_operation
-- kind: routed
SELECT number, id, operation, at_ms, changes, hides, policy, note, undoes FROM operation NOT INDEXED
WHERE namespace = :namespace AND number > :number_after ORDER BY number LIMIT :limit;

-- name: move_journal
-- kind: routed
SELECT o.number, j.position, j.operation, j.position, j.target, j.id, j.before, j.after, j.because
FROM operation AS o NOT INDEXED CROSS JOIN journal AS j ON j.namespace = o.namespace AND j.operation = o.id
WHERE o.namespace = :namespace AND o.number >= :number_after AND (o.number > :number_after OR j.position > :position_after)
ORDER BY o.number, j.position LIMIT :limit;

-- name: last_number
-- kind: routed
SELECT coalesce(max(number), 0) FROM operation WHERE namespace = :namespace;

-- name: number_taken
-- kind: fan-out
SELECT count(*) FROM operation WHERE number = :number;

-- name: insert_numbered_operation
-- kind: routed
INSERT INTO operation (namespace, number, id, operation, at_ms, changes, hides, policy, note, undoes)
VALUES (:namespace, :number, :id, :operation, :at_ms, :changes, :hides, :policy, :note, :undoes);

-- name: moved_namespace
-- kind: routed
SELECT count(*) FROM namespace WHERE namespace = :namespace;

-- name: moved_memory
-- kind: routed
SELECT count(*) FROM memory WHERE namespace = :namespace;

-- name: moved_vector
-- kind: routed
SELECT count(*) FROM vector WHERE namespace = :namespace;

-- name: moved_link
-- kind: routed
SELECT count(*) FROM link WHERE namespace = :namespace;

-- name: moved_access
-- kind: routed
SELECT count(*) FROM access WHERE namespace = :namespace;

-- name: moved_recall
-- kind: routed
SELECT count(*) FROM recall_log WHERE namespace = :namespace;

-- name: moved_document
-- kind: routed
SELECT count(*) FROM document WHERE namespace = :namespace;

-- name: moved_operation
-- kind: routed
SELECT count(*) FROM operation WHERE namespace = :namespace;

-- name: moved_journal
-- kind: routed
SELECT count(*) FROM journal WHERE namespace = :namespace;
