-- The sort of a fact decides how fast it fades.

ALTER TABLE memory ADD COLUMN sort text NOT NULL DEFAULT 'attribute';
