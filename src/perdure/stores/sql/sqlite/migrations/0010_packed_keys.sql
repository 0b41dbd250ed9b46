-- The idempotency key of a message, which stands in two indexes, is its digest's 12 bytes instead of 34 characters
-- (stores/sqlite/lines.py has the function). Other keys stay texts.

ALTER TABLE idempotency RENAME COLUMN key TO packed;
UPDATE idempotency SET packed = packed_key(packed);
