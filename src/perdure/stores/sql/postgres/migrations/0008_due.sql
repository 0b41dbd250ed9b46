-- What is due is found by its instant, whatever namespaces there are; and the namespaces that were last swept under other rules.

CREATE INDEX memory_due_at ON memory (due_ms, namespace) WHERE due_ms IS NOT NULL AND NOT held;
CREATE INDEX namespace_policy ON namespace (policy COLLATE "C");
