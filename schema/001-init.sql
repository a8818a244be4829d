-- The first version of the database. Times are ns since 1970 (wall) unless the name says mono.
-- Enumerations are lower-case words, checked. 64-bit fence tokens fit: epoch << 32 | counter, epoch < 2^31.

CREATE TABLE meta (
	key TEXT PRIMARY KEY,
	value ANY NOT NULL
) STRICT;

CREATE TABLE token (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	hash BLOB NOT NULL UNIQUE,
	role TEXT NOT NULL CHECK (role IN ('viewer', 'operator')),
	created_ns INTEGER NOT NULL,
	revoked_ns INTEGER
) STRICT;

CREATE TABLE node (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	admin TEXT NOT NULL CHECK (admin IN ('pending', 'active', 'draining', 'retired')),
	admin_reason TEXT NOT NULL DEFAULT '',
	observed TEXT NOT NULL DEFAULT 'lost'
		CHECK (observed IN ('online', 'late', 'lost', 'incompatible')),
	join_hash BLOB UNIQUE,
	join_expires_ns INTEGER,
	secret_hash BLOB UNIQUE,
	public_key BLOB,
	hostname TEXT NOT NULL DEFAULT '',
	machine_id TEXT NOT NULL DEFAULT '',
	boot_id TEXT NOT NULL DEFAULT '',
	version TEXT NOT NULL DEFAULT '',
	trouble TEXT NOT NULL DEFAULT '', -- what keeps it from taking runs
	max_runs INTEGER NOT NULL DEFAULT 4,
	labels TEXT NOT NULL DEFAULT '{}',
	created_ns INTEGER NOT NULL,
	enrolled_ns INTEGER,
	last_seen_ns INTEGER,
	-- silence is measured with the monotonic clock, which counts only within one epoch
	seen_mono_ns INTEGER NOT NULL DEFAULT 0,
	seen_epoch INTEGER NOT NULL DEFAULT 0,
	-- its wall clock less the controller's, +- doubt; NULL while not known
	clock_ahead_ns INTEGER,
	clock_doubt_ns INTEGER
) STRICT;

CREATE TABLE drive (
	id INTEGER PRIMARY KEY,
	kind TEXT NOT NULL,
	model TEXT NOT NULL,
	serial TEXT NOT NULL,
	wwn TEXT NOT NULL,
	capacity_bytes INTEGER NOT NULL,
	logical_block_bytes INTEGER NOT NULL,
	firmware TEXT NOT NULL,
	virtual INTEGER NOT NULL CHECK (virtual IN (0, 1)),
	node_id INTEGER NOT NULL REFERENCES node(id),
	path TEXT NOT NULL,
	numa_node INTEGER NOT NULL DEFAULT -1,
	admin TEXT NOT NULL DEFAULT 'unapproved'
		CHECK (admin IN ('unapproved', 'readonly', 'destructive', 'retired')),
	admin_reason TEXT NOT NULL DEFAULT '',
	observed TEXT NOT NULL CHECK (observed IN ('present', 'absent', 'protected', 'conflict')),
	protected TEXT NOT NULL DEFAULT '',
	occupancy TEXT NOT NULL DEFAULT 'idle'
		CHECK (occupancy IN ('idle', 'leased', 'fenced', 'quarantined')),
	labels TEXT NOT NULL DEFAULT '{}',
	first_seen_ns INTEGER NOT NULL,
	last_seen_ns INTEGER NOT NULL,
	UNIQUE (serial, model, wwn, capacity_bytes)
) STRICT;

-- Which node lists which drive at present; two rows for one drive are a conflict.
CREATE TABLE sighting (
	id INTEGER PRIMARY KEY,
	drive_id INTEGER NOT NULL REFERENCES drive(id),
	node_id INTEGER NOT NULL REFERENCES node(id),
	path TEXT NOT NULL,
	protected TEXT NOT NULL,
	UNIQUE (node_id, drive_id)
) STRICT;
CREATE INDEX sighting_by_drive ON sighting(drive_id);

CREATE TABLE suite (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	version INTEGER NOT NULL,
	doc TEXT NOT NULL,
	digest TEXT NOT NULL, -- BLAKE2b-256 of doc, in hex
	scaled INTEGER NOT NULL,
	created_ns INTEGER NOT NULL,
	UNIQUE (name, version)
) STRICT;

CREATE TABLE campaign (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	doc TEXT NOT NULL,
	suite_id INTEGER NOT NULL REFERENCES suite(id),
	state TEXT NOT NULL
		CHECK (state IN ('queued', 'running', 'paused', 'done', 'failed', 'cancelled')),
	priority INTEGER NOT NULL,
	start TEXT NOT NULL DEFAULT '' CHECK (start IN ('', 'together', 'apart')),
	owner TEXT NOT NULL,
	labels TEXT NOT NULL,
	created_ns INTEGER NOT NULL,
	finished_ns INTEGER
) STRICT;

CREATE TABLE run (
	id INTEGER PRIMARY KEY,
	campaign_id INTEGER NOT NULL REFERENCES campaign(id),
	suite_id INTEGER NOT NULL REFERENCES suite(id),
	drive_id INTEGER NOT NULL REFERENCES drive(id),
	repeat INTEGER NOT NULL,
	priority INTEGER NOT NULL,
	state TEXT NOT NULL CHECK (state IN
		('pending', 'leased', 'running', 'collecting', 'done', 'failed', 'cancelled', 'lost')),
	fail_class TEXT CHECK (fail_class IN ('drive', 'infra', 'recipe', 'safety', 'timeout')),
	reason TEXT NOT NULL DEFAULT '',
	unknown INTEGER NOT NULL DEFAULT 0,
	cancel_requested INTEGER NOT NULL DEFAULT 0,
	retries_left INTEGER NOT NULL,
	blockers TEXT NOT NULL DEFAULT '[]',
	firmware TEXT NOT NULL DEFAULT '',
	scaled INTEGER NOT NULL,
	virtual INTEGER NOT NULL,
	created_ns INTEGER NOT NULL,
	started_ns INTEGER,
	finished_ns INTEGER,
	UNIQUE (campaign_id, drive_id, repeat)
) STRICT;
CREATE INDEX run_by_state ON run(state, priority DESC, id);
CREATE INDEX run_by_drive ON run(drive_id, id);

CREATE TABLE attempt (
	id INTEGER PRIMARY KEY,
	run_id INTEGER NOT NULL REFERENCES run(id),
	number INTEGER NOT NULL,
	node_id INTEGER NOT NULL REFERENCES node(id),
	fence INTEGER NOT NULL UNIQUE,
	program TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('granted', 'running', 'exited', 'sealed', 'lost')),
	stop_requested INTEGER NOT NULL DEFAULT 0,
	step TEXT NOT NULL DEFAULT '',
	step_seq INTEGER NOT NULL DEFAULT 0, -- record that step comes from; older ones change nothing
	last_seq INTEGER NOT NULL DEFAULT 0,
	acked_seq INTEGER NOT NULL DEFAULT 0, -- all records up to here are stored or in a gap
	result TEXT,
	result_seq INTEGER, -- record that result comes from: the last one of the attempt
	-- of runs that start together: the instant agreed, by the controller's clock; the doubt of the
	-- node's clock then, NULL when its offset was not known; how late it began, NULL until it did
	start_ns INTEGER,
	start_doubt_ns INTEGER,
	start_lag_ns INTEGER,
	boot_id TEXT NOT NULL DEFAULT '', -- of the node, when it first reported the attempt
	cannot_stop TEXT NOT NULL DEFAULT '', -- what its runner said last that nothing stops
	witness_found TEXT, -- how it found its drive; '' when it could not tell, NULL when it has not
	witness_left TEXT,
	granted_ns INTEGER NOT NULL,
	started_ns INTEGER,
	exited_ns INTEGER,
	sealed_ns INTEGER,
	UNIQUE (run_id, number)
) STRICT;
CREATE INDEX attempt_by_node ON attempt(node_id, state);

CREATE TABLE lease (
	id INTEGER PRIMARY KEY,
	drive_id INTEGER NOT NULL REFERENCES drive(id),
	attempt_id INTEGER NOT NULL REFERENCES attempt(id),
	fence INTEGER NOT NULL,
	granted_ns INTEGER NOT NULL,
	released_ns INTEGER,
	released_why TEXT
) STRICT;
CREATE INDEX lease_by_attempt ON lease(attempt_id);
-- Each attempt had one: the attempts at a drive in their order.
CREATE INDEX lease_by_drive ON lease(drive_id, attempt_id);
-- Queries of leases that are held name this index: it has no row of the past.
CREATE UNIQUE INDEX lease_one_per_drive ON lease(drive_id) WHERE released_ns IS NULL;

-- One row per record as it arrives; UNIQUE makes at-least-once delivery exactly-once storage.
-- Samples of a finished point move to series. kind is that of common/record.h; point is 0 where a
-- record belongs to none or was not understood.
CREATE TABLE record (
	id INTEGER PRIMARY KEY,
	attempt_id INTEGER NOT NULL REFERENCES attempt(id),
	seq INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	point INTEGER NOT NULL,
	crc INTEGER NOT NULL,
	payload BLOB NOT NULL,
	UNIQUE (attempt_id, seq)
) STRICT;
-- Points, results and gaps are few among the samples.
CREATE INDEX record_rare ON record(attempt_id, kind, seq) WHERE kind <> 2;

CREATE TABLE point (
	id INTEGER PRIMARY KEY,
	attempt_id INTEGER NOT NULL REFERENCES attempt(id),
	point INTEGER NOT NULL,
	step INTEGER NOT NULL,
	workload TEXT NOT NULL,
	load_percent REAL,
	offered_iops REAL,
	state TEXT NOT NULL CHECK (state IN ('running', 'done', 'stopped', 'failed')),
	started_ns INTEGER NOT NULL,
	round INTEGER, -- of a test; cells of rounds only
	cell INTEGER,
	meta TEXT NOT NULL DEFAULT '{}',
	metrics TEXT,
	iops REAL,
	bytes_per_second REAL,
	service_mean_ns REAL, -- figures are NULL where too few I/Os support them
	service_p50_ns REAL,
	service_p99_ns REAL,
	service_p99_9_ns REAL,
	response_mean_ns REAL,
	response_p50_ns REAL,
	response_p99_ns REAL,
	response_p99_9_ns REAL,
	read_service BLOB,
	write_service BLOB,
	read_response BLOB,
	write_response BLOB,
	other_service BLOB, -- of trims, write-zeroes, flushes, one behind the other
	other_response BLOB,
	UNIQUE (attempt_id, point)
) STRICT;
CREATE INDEX point_by_workload ON point(workload, attempt_id);
CREATE INDEX point_by_cell ON point(attempt_id, step, cell, round) WHERE cell IS NOT NULL;

-- Rounds of tests, by their records round.end; void is why one does not count.
CREATE TABLE round (
	id INTEGER PRIMARY KEY,
	attempt_id INTEGER NOT NULL REFERENCES attempt(id),
	step INTEGER NOT NULL,
	round INTEGER NOT NULL,
	void TEXT,
	doc TEXT NOT NULL,
	UNIQUE (attempt_id, step, round)
) STRICT;

-- How tests ended, by their records steady, which seq is that of.
CREATE TABLE test_end (
	id INTEGER PRIMARY KEY,
	attempt_id INTEGER NOT NULL REFERENCES attempt(id),
	step INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	verdict TEXT NOT NULL CHECK (verdict IN ('steady', 'not_reached', 'not_judged')),
	doc TEXT NOT NULL,
	UNIQUE (attempt_id, step)
) STRICT;

-- The cells of tests that have ended: figures of the rounds that count, computed when all
-- records of the test were in. point is that of the last round; flags are those of
-- analysis/sanity.h; the columns after metrics are of all reads and writes or, where there
-- are none, of all other operations (bits 1 << enum direction of common/record.h).
CREATE TABLE test_cell (
	id INTEGER PRIMARY KEY,
	attempt_id INTEGER NOT NULL REFERENCES attempt(id),
	step INTEGER NOT NULL,
	cell INTEGER NOT NULL,
	workload TEXT NOT NULL,
	rounds INTEGER NOT NULL,
	point INTEGER NOT NULL,
	flags INTEGER NOT NULL,
	operations INTEGER NOT NULL,
	metrics TEXT NOT NULL,
	iops REAL,
	bytes_per_second REAL,
	service_mean_ns REAL,
	service_p50_ns REAL,
	service_p99_ns REAL,
	service_p99_9_ns REAL,
	UNIQUE (attempt_id, step, cell)
) STRICT;

-- Samples of one finished point: n records, each seq u64, crc u32, length u32, payload,
-- little-endian. Long points have several rows.
CREATE TABLE series (
	id INTEGER PRIMARY KEY,
	attempt_id INTEGER NOT NULL REFERENCES attempt(id),
	point INTEGER NOT NULL,
	first_seq INTEGER NOT NULL,
	last_seq INTEGER NOT NULL,
	n INTEGER NOT NULL,
	samples BLOB NOT NULL,
	UNIQUE (attempt_id, first_seq)
) STRICT;

-- Records that were refused but not thrown away: they came with a token that is not the
-- attempt's, or under a seq that holds other content. Never mixed with the data.
CREATE TABLE stale_record (
	id INTEGER PRIMARY KEY,
	attempt_id INTEGER NOT NULL,
	why TEXT NOT NULL CHECK (why IN ('fence', 'content')),
	fence INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	crc INTEGER NOT NULL,
	payload BLOB NOT NULL,
	received_ns INTEGER NOT NULL,
	UNIQUE (attempt_id, fence, seq, crc)
) STRICT;

-- What each drive went through; rows are only added. seq is that of the record that a row comes
-- from; what happened outside of an attempt stands behind the latest one at the drive.
CREATE TABLE ledger (
	id INTEGER PRIMARY KEY,
	drive_id INTEGER NOT NULL REFERENCES drive(id),
	attempt_id INTEGER REFERENCES attempt(id),
	seq INTEGER NOT NULL,
	kind TEXT NOT NULL
		CHECK (kind IN ('purge', 'fill', 'workload', 'unknown', 'skip', 'repeat')),
	at_ns INTEGER NOT NULL,
	written_bytes INTEGER NOT NULL,
	detail TEXT NOT NULL
) STRICT;
CREATE INDEX ledger_by_drive ON ledger(drive_id, attempt_id, seq);
CREATE INDEX ledger_by_attempt ON ledger(attempt_id, seq);

CREATE TABLE event (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	at_ns INTEGER NOT NULL,
	name TEXT NOT NULL,
	topic TEXT NOT NULL,
	data TEXT NOT NULL
) STRICT;

CREATE TABLE transition (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	object TEXT NOT NULL,
	object_id INTEGER NOT NULL,
	variable TEXT NOT NULL,
	from_state TEXT NOT NULL,
	to_state TEXT NOT NULL,
	why TEXT NOT NULL,
	actor TEXT NOT NULL,
	wall_ns INTEGER NOT NULL,
	mono_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX transition_by_object ON transition(object, object_id, id);

CREATE TABLE idempotency (
	key TEXT PRIMARY KEY,
	body_hash BLOB NOT NULL,
	status INTEGER NOT NULL,
	location TEXT NOT NULL,
	doc TEXT NOT NULL,
	created_ns INTEGER NOT NULL
) STRICT;

-- What was measured elsewhere, by other tools or as published: beside runs in comparisons, never
-- among them. A document is never changed; digest (BLAKE2b-256 of it, in hex) tells it again.
CREATE TABLE foreign_result (
	id INTEGER PRIMARY KEY,
	digest TEXT NOT NULL UNIQUE,
	tool TEXT NOT NULL CHECK (tool IN ('fio', 'vdbench', 'published')),
	tool_version TEXT NOT NULL,
	source TEXT NOT NULL,
	subject TEXT NOT NULL, -- what was measured, as it is called there
	scaled INTEGER NOT NULL CHECK (scaled IN (-1, 0, 1)), -- -1: not known
	imported_by TEXT NOT NULL,
	imported_ns INTEGER NOT NULL
) STRICT;

-- Figures are NULL where they are not told; latencies are those of the service.
CREATE TABLE foreign_point (
	id INTEGER PRIMARY KEY,
	foreign_id INTEGER NOT NULL REFERENCES foreign_result(id),
	number INTEGER NOT NULL,
	workload TEXT NOT NULL,
	point TEXT NOT NULL,
	load_percent REAL,
	offered_iops REAL,
	iops REAL,
	bytes_per_second REAL,
	read_percent REAL,
	in_flight REAL,
	saturated INTEGER NOT NULL CHECK (saturated IN (0, 1)),
	lat_mean_ns REAL,
	lat_p50_ns REAL,
	lat_p99_ns REAL,
	lat_p99_9_ns REAL,
	lat_max_ns REAL,
	transactions_per_second REAL,
	duration_ns REAL,
	quality TEXT NOT NULL CHECK (quality IN
		('measured', 'printed', 'reconstructed', 'suspect', 'contradictory')),
	note TEXT NOT NULL,
	breaks_law INTEGER NOT NULL CHECK (breaks_law IN (0, 1)),
	-- how many bytes the unit of bytes_per_second has was not said
	unit_assumed INTEGER NOT NULL CHECK (unit_assumed IN (0, 1)),
	read_service BLOB,
	write_service BLOB,
	UNIQUE (foreign_id, number)
) STRICT;
