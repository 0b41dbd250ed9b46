-- Statements that every engine takes as they are, by name. `kind` is routed (names one namespace), fan-out (may see
-- several and only reads), admin (what belongs to no namespace) or part (a condition that fills a slot of the others).
-- `{listed:NAME}` tests against a bound list of texts, `{vectors}` is the table of vectors. A statement that binds other
-- lists, or is tuned for one planner, stands in that engine's own file.

-- --- conditions over memory AS m

-- name: filter_active
-- kind: part
m.status = 'active';

-- name: filter_kinds
-- kind: part
m.kind {listed:kinds};

-- name: filter_scopes
-- kind: part
m.scope {listed:scopes};

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

-- name: filter_before
-- kind: part
(m.created_ms, m.id) < (:before_ms, :before_id);

-- --- memories

-- name: list_records
-- kind: routed
SELECT m.id FROM memory AS m WHERE m.namespace = :namespace AND {filters}
ORDER BY m.created_ms DESC, m.id DESC LIMIT :limit;

-- name: records_by_tier
-- kind: routed
SELECT m.id FROM memory AS m WHERE m.namespace = :namespace AND {filters}
ORDER BY m.pinned DESC, CASE m.tier WHEN 'hot' THEN 0 WHEN 'vault' THEN 0 WHEN 'warm' THEN 1 ELSE 2 END, m.anchor_ms DESC,
  m.row
LIMIT :limit;

-- name: sample_records
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND status = 'active' AND row % :step = 0 ORDER BY id LIMIT :limit;

-- name: all_ids
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND id > :after ORDER BY id LIMIT :limit;

-- name: ids_of_task
-- kind: routed
SELECT c.id FROM content AS c WHERE c.namespace = :namespace AND c.task = :task AND c.task IS NOT NULL
  AND c.id > :after ORDER BY c.id LIMIT :limit;

-- name: ids_of_session
-- kind: routed
SELECT m.id FROM memory AS m WHERE m.namespace = :namespace AND m.session = :session AND m.session IS NOT NULL
  AND m.id > :after ORDER BY m.id LIMIT :limit;

-- name: last_turn
-- kind: routed
SELECT turn FROM memory WHERE namespace = :namespace AND session = :session AND turn IS NOT NULL
ORDER BY turn DESC LIMIT 1;

-- --- ids by their first characters, or by those of their short form

-- name: find_ids_of
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace AND id >= :lowest AND id < :beyond ORDER BY id LIMIT :limit;

-- name: find_short_ids
-- kind: fan-out
SELECT id FROM memory WHERE short_id >= :lowest AND short_id < :beyond ORDER BY short_id, id LIMIT :limit;

-- name: find_operations_of
-- kind: routed
SELECT id FROM operation WHERE namespace = :namespace AND id >= :lowest AND id < :beyond ORDER BY id LIMIT :limit;

-- name: find_operations
-- kind: fan-out
SELECT id FROM operation WHERE id >= :lowest AND id < :beyond ORDER BY id LIMIT :limit;

-- name: find_short_operations
-- kind: fan-out
SELECT id FROM operation WHERE short_id >= :lowest AND short_id < :beyond ORDER BY short_id, id LIMIT :limit;

-- All rows of the namespace are looked at, none is read whole.
-- name: unconfirmed_facts
-- kind: routed
SELECT id FROM memory
WHERE namespace = :namespace AND kind = 'fact' AND status = 'active' AND reinforcements < :times
  AND coalesce(validated_ms, created_ms) < :until
ORDER BY coalesce(validated_ms, created_ms), id LIMIT :limit;

-- name: visible_count
-- kind: routed
SELECT (SELECT count(*) FROM memory WHERE namespace = :namespace)
     - (SELECT count(*) FROM memory WHERE namespace = :namespace AND status <> 'active');

-- name: visible_tokens
-- kind: routed
SELECT CAST(coalesce(sum(tokens), 0) AS bigint) FROM memory WHERE namespace = :namespace AND status = 'active';

-- name: usage
-- kind: routed
SELECT (SELECT count(*) FROM memory WHERE namespace = :namespace AND status = 'active'),
  (SELECT CAST(coalesce(sum(tokens), 0) AS bigint) FROM memory WHERE namespace = :namespace AND status = 'active'),
  (SELECT CAST(coalesce(sum(octet_length(text) + octet_length(CAST(metadata AS text))), 0) AS bigint) FROM content
   WHERE namespace = :namespace);

-- name: namespace_version
-- kind: routed
SELECT version FROM namespace WHERE namespace = :namespace;

-- --- links

-- name: links_of_kind
-- kind: routed
SELECT id, other, weight FROM link
WHERE namespace = :namespace AND kind = :kind AND (id, other) > (:id_after, :other_after)
ORDER BY id, other LIMIT :limit;

-- --- documents beside memories: hyperedges, reviews, outcomes, sessions, facts (records/document.py)

-- name: documents
-- kind: routed
SELECT shelf, id, name, data FROM document
WHERE namespace = :namespace AND shelf = :shelf AND (id, name) > (:id, :name) ORDER BY id, name LIMIT :limit;

-- name: documents_about
-- kind: routed
SELECT shelf, id, name, data FROM document WHERE namespace = :namespace AND id = :id ORDER BY shelf, name;

-- --- what is due. `held = false`, not `NOT held`: both planners find their index by it.

-- name: namespaces
-- kind: fan-out
SELECT namespace FROM namespace ORDER BY namespace;

-- name: upkeep_states
-- kind: fan-out
SELECT n.namespace, n.vectors, d.id, d.data
FROM namespace AS n LEFT JOIN document AS d ON d.namespace = n.namespace AND d.shelf = 'upkeep'
WHERE n.namespace > :after AND n.namespace <= (SELECT max(p.namespace) FROM
  (SELECT namespace FROM namespace WHERE namespace > :after ORDER BY namespace LIMIT :limit) AS p)
ORDER BY n.namespace;

-- name: due_ids
-- kind: routed
SELECT id, due_ms, row FROM memory
WHERE namespace = :namespace AND held = false AND due_ms IS NOT NULL AND due_ms <= :now
  AND (due_ms, row) > (:due, :row)
ORDER BY due_ms, row LIMIT :limit;

-- name: held_ids
-- kind: routed
SELECT id, due_ms, row FROM memory
WHERE namespace = :namespace AND held = true AND due_ms IS NOT NULL AND due_ms <= :now
  AND (due_ms, row) > (:due, :row)
ORDER BY due_ms, row LIMIT :limit;

-- name: accessed_ids
-- kind: routed
SELECT DISTINCT id FROM access WHERE namespace = :namespace AND at_ms <= :now AND id > :after ORDER BY id LIMIT :limit;

-- name: count_due_of
-- kind: routed
SELECT count(*) FROM memory WHERE namespace = :namespace AND due_ms IS NOT NULL AND due_ms <= :now;

-- name: count_changes
-- kind: fan-out
SELECT coalesce(sum(changes), 0) FROM operation WHERE at_ms >= :since;

-- name: count_changes_of
-- kind: routed
SELECT coalesce(sum(changes), 0) FROM operation WHERE namespace = :namespace AND at_ms >= :since;

-- By their ids, which begin with the instant: a service asks this each second.
-- name: erasures
-- kind: fan-out
SELECT namespace, id FROM operation WHERE id >= CAST(:first AS text) AND operation = 'erase';

-- name: erasures_of
-- kind: routed
SELECT namespace, id FROM operation WHERE namespace = :namespace AND id >= CAST(:first AS text) AND operation = 'erase';

-- name: operations_ahead
-- kind: routed
SELECT id, operation, at_ms FROM operation WHERE namespace = :namespace AND at_ms > :now AND operation <> 'upkeep'
ORDER BY at_ms DESC, id LIMIT :limit;

-- Undos are few: they are read by their own index, and not by their instants among all operations.
-- name: undos_ahead
-- kind: routed
SELECT id, operation, at_ms FROM operation WHERE namespace = :namespace AND undoes > '' AND +at_ms > :now
ORDER BY +at_ms DESC, id LIMIT :limit;

-- Days are counted from 1970 UTC. A loss (gone_by_day) is dated by the memory, not by the operation: a late sweep is of
-- several days.
-- name: stored_by_day
-- kind: routed
SELECT recorded_ms / 86400000, count(*) FROM memory WHERE namespace = :namespace AND recorded_ms >= :since GROUP BY 1;

-- name: shortened_by_day
-- kind: routed
SELECT form_ms / 86400000, count(*) FROM memory
WHERE namespace = :namespace AND form <> 'full' AND form_ms >= :since GROUP BY 1;

-- --- writing

-- name: namespace_policy
-- kind: routed
UPDATE namespace SET policy = :after WHERE namespace = :namespace AND policy = :before;

-- name: add_vectors
-- kind: routed
UPDATE namespace SET vectors = vectors + :more WHERE namespace = :namespace;

-- name: insert_operation
-- kind: routed
INSERT INTO operation (namespace, id, number, operation, at_ms, changes, hides, policy, note, undoes, digest, actor)
VALUES (:namespace, :id, :number, :operation, :at_ms, :changes, :hides, :policy, :note, :undoes, :digest, :actor);

-- name: take_lease
-- kind: routed
INSERT INTO lease AS l (namespace, owner, until_ms, epoch) VALUES (:namespace, :owner, :until, 1)
ON CONFLICT (namespace) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms, epoch = l.epoch + 1
WHERE l.until_ms <= :now OR l.owner = excluded.owner
RETURNING epoch;

-- name: hold_lease
-- kind: routed
UPDATE lease SET until_ms = CASE WHEN until_ms < :until THEN :until ELSE until_ms END
WHERE namespace = :namespace AND owner = :owner AND epoch = :epoch
RETURNING epoch;

-- name: leases
-- kind: fan-out
SELECT namespace, owner, epoch, until_ms FROM lease WHERE until_ms > :now ORDER BY namespace;

-- name: release_lease
-- kind: routed
UPDATE lease SET until_ms = 0 WHERE namespace = :namespace AND owner = :owner AND epoch = :epoch;

-- --- the journal

-- name: operation
-- kind: fan-out
SELECT o.namespace, o.id, o.operation, o.at_ms, o.changes, o.hides, o.policy, o.note, o.undoes,
  (SELECT max(u.id) FROM operation AS u WHERE u.namespace = o.namespace AND u.undoes = o.id), o.actor
FROM operation AS o WHERE o.id = :id;

-- name: id_at
-- kind: routed
SELECT id FROM memory WHERE namespace = :namespace ORDER BY id LIMIT 1 OFFSET :place;

-- name: number_at
-- kind: routed
SELECT number FROM operation WHERE namespace = :namespace ORDER BY number LIMIT 1 OFFSET :place;

-- name: number_of
-- kind: routed
SELECT number FROM operation WHERE namespace = :namespace AND id = :id;

-- name: operations_in_order
-- kind: routed
SELECT number, id, operation FROM operation WHERE namespace = :namespace ORDER BY number;

-- name: clear_operation
-- kind: routed
DELETE FROM operation WHERE namespace = :namespace AND (id = :id OR number = :number);

-- name: renew_digest
-- kind: routed
UPDATE operation SET digest = :digest WHERE namespace = :namespace AND id = :id;

-- name: recalls
-- kind: routed
SELECT id, at_ms, query, hits FROM recall_log WHERE namespace = :namespace ORDER BY id DESC LIMIT :limit;

-- --- tokens of the service

-- name: insert_token
-- kind: admin
INSERT INTO token (id, hash, place, role, pattern, actor, created_ms, expires_ms)
VALUES (:id, :hash, :place, :role, :pattern, :actor, :created_ms, :expires_ms);

-- name: tokens
-- kind: admin
SELECT id, role, pattern, actor, created_ms, expires_ms, revoked_ms, used_ms FROM token WHERE place = :place
ORDER BY created_ms, id;

-- name: token_of_hash
-- kind: admin
SELECT id, role, pattern, actor, created_ms, expires_ms, revoked_ms, used_ms FROM token
WHERE hash = :hash AND place = :place;

-- name: any_token
-- kind: admin
SELECT EXISTS (SELECT 1 FROM token WHERE place = :place);

-- name: revoke_token
-- kind: admin
UPDATE token SET revoked_ms = :now WHERE id = :id AND place = :place AND revoked_ms IS NULL;

-- name: use_token
-- kind: admin
UPDATE token SET used_ms = :now WHERE id = :id AND place = :place AND (used_ms IS NULL OR used_ms < :before);

-- name: insert_login
-- kind: admin
INSERT INTO login (name, place, salt, hash, token, ends_ms) VALUES (:name, :place, :salt, :hash, :token, :ends_ms);

-- name: login
-- kind: admin
SELECT l.salt, l.hash, l.ends_ms, t.id, t.role, t.pattern, t.actor, t.created_ms, t.expires_ms, t.revoked_ms, t.used_ms
FROM login AS l JOIN token AS t ON t.id = l.token AND t.place = l.place
WHERE l.name = :name AND l.place = :place;

-- name: end_login
-- kind: admin
DELETE FROM login WHERE name = :name AND place = :place;

-- name: end_logins_of_token
-- kind: admin
DELETE FROM login WHERE token = :token AND place = :place;

-- name: end_old_logins
-- kind: admin
DELETE FROM login WHERE ends_ms <= :now AND place = :place;

-- --- what a store says of itself

-- name: meta
-- kind: admin
SELECT value FROM meta WHERE key = :key;

-- name: set_meta
-- kind: admin
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: clear_meta
-- kind: admin
DELETE FROM meta WHERE key = :key;

-- --- embedding spaces

-- name: active_space
-- kind: admin
SELECT number, model, dimensions, version FROM space WHERE active;

-- name: all_spaces
-- kind: admin
SELECT model, dimensions, version, active FROM space ORDER BY number;

-- name: spaces
-- kind: admin
SELECT number, name, model, dimensions, version, active FROM space ORDER BY number;

-- name: set_space
-- kind: admin
UPDATE space SET model = :model, dimensions = :dimensions, version = :version WHERE number = :number;

-- name: space_of
-- kind: admin
SELECT number FROM space WHERE name = :name;

-- Two processes may pick the same number at once: one of them finds it taken and asks again.
-- name: insert_space
-- kind: admin
INSERT INTO space (number, name, model, dimensions, version, active)
SELECT coalesce(max(number), 0) + 1, CAST(:name AS text), CAST(:model AS text), CAST(:dimensions AS integer),
  CAST(:version AS text), false FROM space WHERE true
ON CONFLICT DO NOTHING;

-- name: activate_space
-- kind: admin
UPDATE space SET active = (name = :name);

-- --- damage: each statement counts what breaks one rule between the tables

-- name: memories_without_content
-- kind: fan-out
SELECT count(*) FROM memory AS m WHERE NOT EXISTS (
  SELECT 1 FROM content AS c WHERE c.namespace = m.namespace AND c.row = m.row AND c.id = m.id);

-- name: contents_without_memory
-- kind: fan-out
SELECT count(*) FROM content AS c WHERE NOT EXISTS (
  SELECT 1 FROM memory AS m WHERE m.namespace = c.namespace AND m.row = c.row);

-- A namespace that came without its journal has no operations.
-- name: unknown_policies
-- kind: fan-out
SELECT count(*) FROM namespace AS n WHERE EXISTS (SELECT 1 FROM operation AS o WHERE o.namespace = n.namespace)
  AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.namespace = n.namespace AND o.policy = n.policy);

-- name: restore_policy
-- kind: routed
UPDATE namespace SET policy = (
  SELECT o.policy FROM operation AS o WHERE o.namespace = :namespace ORDER BY o.number DESC LIMIT 1)
WHERE namespace = :namespace AND EXISTS (SELECT 1 FROM operation AS o WHERE o.namespace = :namespace)
  AND NOT EXISTS (SELECT 1 FROM operation AS o WHERE o.namespace = :namespace AND o.policy = namespace.policy);

-- name: accesses_without_memory
-- kind: fan-out
SELECT count(*) FROM access AS a WHERE NOT EXISTS (
  SELECT 1 FROM memory AS m WHERE m.namespace = a.namespace AND m.id = a.id);

-- name: memories_without_namespace
-- kind: fan-out
SELECT count(*) FROM memory AS m WHERE NOT EXISTS (SELECT 1 FROM namespace AS n WHERE n.namespace = m.namespace);

-- name: lost_namespaces
-- kind: fan-out
SELECT DISTINCT m.namespace FROM memory AS m WHERE NOT EXISTS (SELECT 1 FROM namespace AS n WHERE n.namespace = m.namespace);

-- --- moving a store: the cursor's columns first, then those of the part (records/transfer.py)

-- name: move_namespace
-- kind: routed
SELECT n.namespace, n.created_ms, n.policy FROM namespace AS n
WHERE n.namespace = :namespace AND n.namespace > :namespace_after LIMIT :limit;

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

-- name: size_of_namespace
-- kind: routed
SELECT count(*) FROM namespace WHERE namespace = :namespace;

-- name: size_of_memory
-- kind: routed
SELECT count(*) FROM memory WHERE namespace = :namespace;

-- name: size_of_link
-- kind: routed
SELECT count(*) FROM link WHERE namespace = :namespace;

-- name: size_of_access
-- kind: routed
SELECT count(*) FROM access WHERE namespace = :namespace;

-- name: size_of_recall
-- kind: routed
SELECT count(*) FROM recall_log WHERE namespace = :namespace;

-- name: size_of_document
-- kind: routed
SELECT count(*) FROM document WHERE namespace = :namespace;

-- name: size_of_operation
-- kind: routed
SELECT count(*) FROM operation WHERE namespace = :namespace;

-- name: size_of_journal
-- kind: routed
SELECT count(*) FROM journal WHERE namespace = :namespace;

-- --- erasing for good

-- name: document_page
-- kind: routed
SELECT shelf, id, name, data FROM document
WHERE namespace = :namespace AND (shelf, id, name) > (:shelf, :id, :name)
ORDER BY shelf, id, name LIMIT :limit;

-- name: redact_document
-- kind: routed
UPDATE document SET id = :new_id, name = :new_name, data = :data
WHERE namespace = :namespace AND shelf = :shelf AND id = :id AND name = :name;

-- name: redact_note
-- kind: routed
UPDATE operation SET note = :note WHERE namespace = :namespace AND id = :id;

-- name: delete_recall
-- kind: routed
DELETE FROM recall_log WHERE namespace = :namespace AND id = :id;

-- name: redact_recall
-- kind: routed
UPDATE recall_log SET query = :query WHERE namespace = :namespace AND id = :id;

-- name: clear_orphan_contents
-- kind: routed
DELETE FROM content WHERE namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = :namespace AND m.row = content.row);

-- Those of memories that are stored in another row by now: nobody needs them any more.
-- name: clear_replaced_contents
-- kind: routed
DELETE FROM content WHERE namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = :namespace AND m.row = content.row)
  AND EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = :namespace AND m.id = content.id);

-- name: clear_orphan_accesses
-- kind: routed
DELETE FROM access WHERE namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = :namespace AND m.id = access.id);

-- name: clear_tags
-- kind: routed
DELETE FROM tag WHERE namespace = :namespace;

-- --- lists of texts, and vectors

-- name: accesses
-- kind: routed
SELECT id, at_ms, times FROM access
WHERE namespace = :namespace AND id {listed:ids} AND at_ms <= :until ORDER BY id, at_ms;

-- name: clear_orphan_vectors
-- kind: routed
DELETE FROM {vectors} WHERE namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = :namespace AND m.row = {vectors}.row);

-- name: clear_stray_vectors
-- kind: routed
DELETE FROM {vectors} WHERE namespace = :namespace
  AND NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = :namespace AND m.row = {vectors}.row)
  AND NOT EXISTS (SELECT 1 FROM content AS c WHERE c.namespace = :namespace AND c.row = {vectors}.row);

-- Two kept counts tell of a namespace that no memory lacks a vector, unless there are several spaces: then all are looked at.
-- name: places_without_vector
-- kind: fan-out
SELECT n.namespace FROM namespace AS n
WHERE n.namespace > :after AND n.namespace <= :last
  AND (n.vectors <> n.documents OR EXISTS (SELECT 1 FROM space AS s WHERE s.number < :space OR s.number > :space))
  AND EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = n.namespace AND m.status = 'active'
    AND NOT EXISTS (SELECT 1 FROM {vectors} AS v WHERE v.namespace = m.namespace AND v.space = :space AND v.row = m.row));

-- name: count_without_vector
-- kind: fan-out
SELECT count(*) FROM memory AS m
WHERE m.status = 'active' AND m.namespace IN (SELECT n.namespace FROM namespace AS n
    WHERE n.vectors <> n.documents OR EXISTS (SELECT 1 FROM space AS s WHERE s.number < :space OR s.number > :space))
  AND NOT EXISTS (SELECT 1 FROM {vectors} AS v WHERE v.namespace = m.namespace AND v.space = :space AND v.row = m.row);

-- name: count_without_vector_of
-- kind: routed
SELECT count(*) FROM memory AS m
WHERE m.namespace = :namespace AND m.status = 'active' AND EXISTS (SELECT 1 FROM namespace AS n WHERE n.namespace = :namespace
    AND (n.vectors <> n.documents OR EXISTS (SELECT 1 FROM space AS s WHERE s.number < :space OR s.number > :space)))
  AND NOT EXISTS (SELECT 1 FROM {vectors} AS v WHERE v.namespace = :namespace AND v.space = :space AND v.row = m.row);

-- Whatever is counted: for a check.
-- name: memories_without_vector
-- kind: fan-out
SELECT count(*) FROM memory AS m WHERE m.status = 'active'
  AND NOT EXISTS (SELECT 1 FROM {vectors} AS v WHERE v.namespace = m.namespace AND v.space = :space AND v.row = m.row);

-- name: document_names
-- kind: routed
SELECT id, name FROM document WHERE namespace = :namespace AND shelf = :shelf ORDER BY id, name;

-- name: documents_of
-- kind: routed
SELECT shelf, id, name, data FROM document
WHERE namespace = :namespace AND shelf = :shelf AND id {listed:ids} ORDER BY id, name;

-- name: links_from
-- kind: routed
SELECT id, kind, other, weight FROM link WHERE namespace = :namespace AND id {listed:ids};

-- name: operations_named
-- kind: routed
SELECT number, id, operation, at_ms, changes, hides, policy, note, undoes, digest, actor FROM operation
WHERE namespace = :namespace AND id {listed:operations};

-- name: size_of_vector
-- kind: routed
SELECT count(*) FROM {vectors} WHERE namespace = :namespace;

-- name: vectors_without_memory
-- kind: fan-out
SELECT count(*) FROM {vectors} AS v WHERE NOT EXISTS
  (SELECT 1 FROM memory AS m WHERE m.namespace = v.namespace AND m.row = v.row);

-- name: vectors_of_unknown_space
-- kind: fan-out
SELECT count(*) FROM {vectors} AS v WHERE NOT EXISTS (SELECT 1 FROM space AS s WHERE s.number = v.space);

-- name: wrong_vector_counts
-- kind: fan-out
SELECT count(*) FROM namespace AS n WHERE n.vectors <> (
  SELECT count(*) FROM {vectors} AS v WHERE v.namespace = n.namespace);

-- name: without_vector
-- kind: routed
SELECT m.row, m.id, c.text, c.packed, m.speaker FROM memory AS m JOIN content AS c ON c.namespace = m.namespace AND c.row = m.row
WHERE m.namespace = :namespace AND m.row > :after AND EXISTS (SELECT 1 FROM namespace AS n WHERE n.namespace = :namespace
    AND (n.vectors <> n.documents OR EXISTS (SELECT 1 FROM space AS s WHERE s.number < :space OR s.number > :space)))
  AND NOT EXISTS (SELECT 1 FROM {vectors} AS v WHERE v.namespace = m.namespace AND v.space = :space AND v.row = m.row)
ORDER BY m.row LIMIT :limit;
