-- Every statement of the SQLite store, by name. `kind` is routed (names one namespace), fan-out (may see several) or
-- admin (the file itself). Statements that are assembled at run time say so in stores/sqlite/.

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
INSERT INTO memory (row, namespace, id, kind, scope, tier, status, pinned, importance, confidence, uniqueness,
  created_ms, recorded_ms, anchor_ms, access_count, access_mass, tier_accesses, accessed_ms, access2_ms, access3_ms, reinforcements,
  boosted, boost_day, validated_ms, tier_ms, status_ms, due_ms, held, session, turn, speaker, op, asks)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: twin
-- kind: routed
SELECT m.id FROM content AS c JOIN memory AS m ON m.row = c.row
WHERE c.namespace = ?1 AND c.digest = ?2 AND m.kind = ?3 AND m.session IS ?4 AND m.speaker IS ?5 AND c.task IS ?6
  AND c.text = ?7 AND m.status IN ('active', 'archived') AND m.op <> ?8;

-- name: insert_content
-- kind: routed
INSERT INTO content (row, namespace, id, text, tags, source, task, metadata, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_words
-- kind: routed
INSERT INTO words (rowid, text, place) VALUES (?, ?, ?);

-- name: insert_tag
-- kind: routed
INSERT INTO tag (namespace, tag, row) VALUES (?, ?, ?);

-- name: delete_memory
-- kind: routed
DELETE FROM memory WHERE namespace = ? AND row = ? AND op = ?;

-- name: delete_content
-- kind: routed
DELETE FROM content WHERE namespace = ? AND row = ?;

-- name: delete_words
-- kind: admin
DELETE FROM words WHERE rowid = ?;

-- name: delete_tags
-- kind: routed
DELETE FROM tag WHERE namespace = ? AND tag = ? AND row = ?;

-- name: insert_gone
-- kind: routed
INSERT INTO gone (namespace, seq, row) VALUES (?, ?, ?);

-- name: row_of
-- kind: routed
SELECT row FROM memory WHERE namespace = ? AND id = ?;

-- name: op_of
-- kind: routed
SELECT op FROM memory WHERE namespace = ? AND id = ?;

-- name: insert_vector
-- kind: routed
INSERT INTO vector (namespace, space, row, seq, data) VALUES (?, ?, ?, ?, ?);

-- name: delete_vector
-- kind: routed
DELETE FROM vector WHERE namespace = ? AND space = ? AND row = ?;

-- name: delete_vectors
-- kind: routed
DELETE FROM vector WHERE namespace = ? AND row = ?;

-- name: insert_link
-- kind: routed
INSERT INTO link (namespace, id, kind, other, weight) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING;

-- name: delete_link
-- kind: routed
DELETE FROM link WHERE namespace = ? AND id = ? AND kind = ? AND other = ?;

-- name: insert_access
-- kind: routed
INSERT INTO access (namespace, id, at_ms, times)
SELECT m.namespace, m.id, ?3, ?4 FROM memory AS m WHERE m.namespace = ?1 AND m.id = ?2
ON CONFLICT (namespace, id, at_ms) DO UPDATE SET times = times + excluded.times;

-- name: delete_access
-- kind: routed
DELETE FROM access WHERE namespace = ? AND id = ? AND at_ms = ? AND times = ?;

-- name: insert_recall
-- kind: routed
INSERT INTO recall_log (namespace, id, at_ms, query, hits) VALUES (?, ?, ?, ?, ?);

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
DELETE FROM idempotency WHERE namespace = ? AND key = ? AND id = ?;

-- name: keys_of
-- kind: routed
SELECT key FROM idempotency WHERE namespace = ? AND id = ?;

-- name: insert_operation
-- kind: routed
INSERT INTO operation (namespace, id, operation, at_ms, changes, hides, policy, note, undoes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: insert_journal
-- kind: routed
INSERT INTO journal (namespace, operation, position, target, id, before, after, because)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: release_held
-- kind: routed
UPDATE memory SET held = 0 WHERE namespace = :namespace AND held = 1 AND due_ms IS NOT NULL;

-- name: locate
-- kind: fan-out
SELECT namespace FROM memory WHERE id = ?;

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

-- name: all_ids
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND id > :after ORDER BY id LIMIT :limit;

-- name: fading
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND held = 0 AND due_ms IS NOT NULL AND due_ms <= :until AND tier = 'cold'
  AND status = 'active' ORDER BY due_ms LIMIT :limit;

-- name: sampled
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND status = 'active' AND row % :step = 0 LIMIT :limit;

-- name: at_hand
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND status = 'active'
ORDER BY pinned DESC, CASE tier WHEN 'hot' THEN 0 WHEN 'vault' THEN 0 WHEN 'warm' THEN 1 ELSE 2 END, anchor_ms DESC
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

-- name: find_digest
-- kind: routed
SELECT id FROM content WHERE namespace = ? AND digest = ? ORDER BY row;

-- name: find_key
-- kind: routed
SELECT id FROM idempotency WHERE namespace = ? AND key = ?;

-- name: last_turn
-- kind: routed
SELECT turn FROM memory WHERE namespace = ? AND session = ? ORDER BY turn DESC LIMIT 1;

-- name: operation
-- kind: fan-out
SELECT o.namespace, o.id, o.operation, o.at_ms, o.changes, o.hides, o.policy, o.note, o.undoes,
  (SELECT max(u.id) FROM operation AS u WHERE u.namespace = o.namespace AND u.undoes = o.id)
FROM operation AS o WHERE o.id = ?;

-- name: operations
-- kind: fan-out
SELECT o.namespace, o.id, o.operation, o.at_ms, o.changes, o.hides, o.policy, o.note, o.undoes,
  (SELECT max(u.id) FROM operation AS u WHERE u.namespace = o.namespace AND u.undoes = o.id)
FROM operation AS o WHERE (:namespace IS NULL OR o.namespace = :namespace) ORDER BY o.number DESC LIMIT :limit;

-- name: journal_of_operation
-- kind: routed
SELECT target, id, before, after, because FROM journal WHERE namespace = ? AND operation = ? ORDER BY position;

-- name: journal_of_memory
-- kind: routed
SELECT j.operation, o.operation, j.namespace, o.at_ms, j.target, j.id, j.before, j.after, j.because, o.policy
FROM journal AS j JOIN operation AS o ON o.namespace = j.namespace AND o.id = j.operation
WHERE j.namespace = ? AND j.id = ? ORDER BY o.number, j.position;

-- name: links_of
-- kind: routed
SELECT kind, other, weight FROM link WHERE namespace = :namespace AND id = :id
UNION ALL
SELECT kind, id, weight FROM link WHERE namespace = :namespace AND other = :id
ORDER BY 1, 2;

-- name: links_to
-- kind: routed
SELECT id, kind, weight FROM link WHERE namespace = ? AND other = ? ORDER BY id, kind;

-- name: active_space
-- kind: admin
SELECT number, model, dimensions, version FROM space WHERE active = 1;

-- name: space_of
-- kind: admin
SELECT number FROM space WHERE name = ?;

-- name: insert_space
-- kind: admin
INSERT INTO space (name, model, dimensions, version, active) VALUES (?, ?, ?, ?, ?);

-- name: activate_space
-- kind: admin
UPDATE space SET active = (number = ?);

-- name: without_vector
-- kind: routed
SELECT m.row, m.id, c.text, m.speaker FROM memory AS m JOIN content AS c ON c.row = m.row
WHERE m.namespace = :namespace AND m.row > :after
  AND NOT EXISTS (SELECT 1 FROM vector AS v WHERE v.namespace = :namespace AND v.space = :space AND v.row = m.row)
ORDER BY m.row LIMIT :limit;

-- name: count_without_vector
-- kind: fan-out
SELECT count(*) FROM memory AS m WHERE (:namespace IS NULL OR m.namespace = :namespace) AND m.status = 'active'
  AND NOT EXISTS (SELECT 1 FROM vector AS v WHERE v.namespace = m.namespace AND v.space = :space AND v.row = m.row);

-- name: new_vectors
-- kind: routed
SELECT v.row, v.data, m.created_ms, m.kind, m.scope, m.status, m.session, c.tags
FROM vector AS v JOIN memory AS m ON m.row = v.row JOIN content AS c ON c.row = v.row
WHERE v.namespace = :namespace AND v.space = :space AND v.seq > :seen ORDER BY v.seq, v.row;

-- name: changed_rows
-- kind: routed
SELECT row, status, scope FROM memory WHERE namespace = :namespace AND changed > 0 AND changed > :seen;

-- name: gone_rows
-- kind: routed
SELECT row FROM gone WHERE namespace = :namespace AND seq > :seen;

-- name: last_segment
-- kind: routed
SELECT coalesce(max(number), -1), coalesce(max(seq), -1) FROM segment WHERE namespace = :namespace AND space = :space;

-- name: insert_segment
-- kind: routed
INSERT INTO segment (namespace, space, number, seq, version, rows, codes, attributes, cells)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: segments
-- kind: routed
SELECT number, seq, version, rows, codes, attributes, cells FROM segment
WHERE namespace = :namespace AND space = :space ORDER BY number;

-- name: set_segment_cells
-- kind: routed
UPDATE segment SET cells = ? WHERE namespace = ? AND space = ? AND number = ?;

-- name: cell_map
-- kind: routed
SELECT vectors, data FROM cell_map WHERE namespace = :namespace AND space = :space;

-- name: save_cell_map
-- kind: routed
INSERT INTO cell_map (namespace, space, vectors, data) VALUES (?, ?, ?, ?)
ON CONFLICT (namespace, space) DO UPDATE SET vectors = excluded.vectors, data = excluded.data;

-- name: vector_count
-- kind: routed
SELECT vectors FROM namespace WHERE namespace = :namespace;

-- name: total_rows
-- kind: admin
SELECT coalesce(max(row), 0) FROM memory;

-- name: document_frequency
-- kind: admin
SELECT doc FROM vocabulary WHERE term = ?;

-- name: tally
-- kind: fan-out
SELECT namespace, kind, tier, status, count(*) FROM memory WHERE :namespace IS NULL OR namespace = :namespace
GROUP BY namespace, kind, tier, status;

-- name: count_due
-- kind: fan-out
SELECT count(*) FROM memory WHERE (:namespace IS NULL OR namespace = :namespace) AND due_ms IS NOT NULL AND due_ms <= :now;
