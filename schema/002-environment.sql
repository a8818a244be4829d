-- What a run ran on, and how its drive was before and after.

-- Manifests, each once; hash is BLAKE2b-256 of the canonical JSON, in hex.
CREATE TABLE environment (
	id INTEGER PRIMARY KEY,
	hash TEXT NOT NULL UNIQUE,
	manifest TEXT NOT NULL,
	first_seen_ns INTEGER NOT NULL
) STRICT;

ALTER TABLE attempt ADD COLUMN environment_id INTEGER REFERENCES environment(id);

-- What a drive said of its health, as the runner wrote it.
CREATE TABLE health (
	id INTEGER PRIMARY KEY,
	attempt_id INTEGER NOT NULL REFERENCES attempt(id),
	moment TEXT NOT NULL CHECK (moment IN ('before', 'after')),
	at_ns INTEGER NOT NULL,
	doc TEXT NOT NULL,
	UNIQUE (attempt_id, moment)
) STRICT;
