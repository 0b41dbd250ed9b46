-- The sort of a fact decides how fast it fades.

ALTER TABLE memory ADD COLUMN sort TEXT NOT NULL DEFAULT 'attribute';
