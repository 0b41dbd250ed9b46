-- The image runs this once, as its superuser, where the volume is empty. The service's own role is no superuser: none is
-- held by row-level security. See docs/scale.md.
\getenv password PERDURE_PASSWORD
CREATE ROLE perdure LOGIN PASSWORD :'password';
CREATE DATABASE perdure OWNER perdure;
\connect perdure
CREATE EXTENSION vector;
