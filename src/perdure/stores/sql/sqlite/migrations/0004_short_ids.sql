-- Ids are also found by their last eight characters, which are shown of them: the first ones of a UUIDv7 are its time.

ALTER TABLE memory ADD COLUMN short_id TEXT GENERATED ALWAYS AS (substr(id, -8)) VIRTUAL;
CREATE INDEX memory_short_id ON memory (short_id);
ALTER TABLE operation ADD COLUMN short_id TEXT GENERATED ALWAYS AS (substr(id, -8)) VIRTUAL;
CREATE INDEX operation_short_id ON operation (short_id);
