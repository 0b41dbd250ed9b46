-- A digest of each operation and its lines, by which a check finds damage; none for operations of earlier versions.

ALTER TABLE operation ADD COLUMN digest INTEGER;
