-- Ids are also found by their last eight characters, which are shown of them: the first ones of a UUIDv7 are its time.
-- A column, because row-level security keeps a condition on an expression from its index.

ALTER TABLE memory ADD COLUMN short_id text COLLATE "C" GENERATED ALWAYS AS (right(id, 8)) STORED;
CREATE INDEX memory_short_id ON memory (short_id);
ALTER TABLE operation ADD COLUMN short_id text COLLATE "C" GENERATED ALWAYS AS (right(id, 8)) STORED;
CREATE INDEX operation_short_id ON operation (short_id);
