-- How many memories there are of each kind, tier and status is counted along an index; grouping rows took most of the
-- time of `stats`. The key is an expression, so that no other statement takes this index for its own.

CREATE INDEX memory_counts ON memory (namespace, json_array(kind, tier, status));
