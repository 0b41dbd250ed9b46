-- Spreading the tables over a Citus cluster: namespace is the distribution column, and all tables are co-located, so
-- that a transaction of one namespace runs on one worker; what it sets locally (what it may see) reaches the workers.
-- Run by `perdure migrate --distribute`, once for each table.
ALTER ROLE CURRENT_USER SET citus.propagate_set_commands TO 'local';
SELECT create_reference_table('meta');
SELECT create_reference_table('space');
SELECT create_distributed_table('namespace', 'namespace');
SELECT create_distributed_table('lease', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('memory', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('content', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('tag', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('posting', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('embedding', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('link', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('access', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('recall_log', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('idempotency', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('document', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('operation', 'namespace', colocate_with => 'namespace');
SELECT create_distributed_table('journal', 'namespace', colocate_with => 'namespace');
