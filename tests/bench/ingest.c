/*
 * bench ingest - how many samples a second does a controller commit?
 *
 * Eight processes send sealed messages over nanomsg on loopback, as agents do, to this
 * process, which runs store, sessions, link and ingest on the main loop, as the
 * controller does. The same sample rows go into a second database of the same schema by
 * SQLite alone, one transaction per message: the ceiling. Both take turns, so that a busy
 * disk is busy for both; both rates and their ratio come from the same run.
 *
 *   bench/ingest [samples per sender] [folder]
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/nn.h"
#include "common/parse.h"
#include "common/record.h"
#include "common/seal.h"
#include "common/wire.h"
#include "common/xalloc.h"
#include "controller/link.h"
#include "controller/session.h"
#include "controller/store.h"

#define SENDERS 8
#define ROUNDS 5
#define POINT_SECONDS 60
#define IOS_PER_SAMPLE 5000

/* One sender: its keys, and the seconds that it repeats point after point. */
struct sender {
	unsigned number; /* also of its attempt */
	struct seal_session keys;
	struct sample seconds[POINT_SECONDS];
	uint64_t left; /* samples to send in this round */
	uint64_t seq;  /* of the last record */
	uint64_t transport;
	uint32_t point, second;
	struct wire_batch batch;
	uint8_t buf[RECORD_MAX_BYTES];
};

static char url[64];
static char *dir;
static pid_t parent;
static struct sender *senders[SENDERS];
static struct session_book *sessions;
static uint64_t samples_each = 12500;

static void
die(const char *what, const struct err *e)
{
	fprintf(stderr, "bench: %s: %s\n", what, e->text);
	exit(1);
}

static void
remove_dir(void)
{
	char *cmd = xasprintf("rm -rf '%s'", dir);

	if (getpid() == parent && system(cmd) != 0)
		fprintf(stderr, "bench: %s is left\n", dir);
	free(cmd);
}

/* A port that nobody listens on: the kernel's choice. */
static void
choose_url(void)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) != 0 ||
		getsockname(fd, (struct sockaddr *)&a, &len) != 0)
		exit(1);
	close(fd);
	snprintf(url, sizeof(url), "tcp://127.0.0.1:%u", ntohs(a.sin_port));
}

/* A latency like those of a busy drive: spread over two octaves, with a tail. */
static uint64_t
latency(uint64_t *random)
{
	double u;
	double v;

	*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407U;
	u = ((double)(*random >> 11) + 1) / 9007199254740994.0;
	*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407U;
	v = (double)(*random >> 11) / 9007199254740992.0;
	return (uint64_t)(100000 *
			  exp(0.45 * sqrt(-2 * log(u)) * cos(6.28318530718 * v)));
}

static struct sender *
make_sender(unsigned number)
{
	struct sender *s = xcalloc(1, sizeof(*s));
	uint64_t random = 977 * number + 1;

	s->number = number;
	s->point = 1;
	for (uint32_t i = 0; i < POINT_SECONDS; i++) {
		struct sample *x = &s->seconds[i];

		x->second = i;
		x->length_ns = NS_PER_S;
		x->ops[DIR_READ] = IOS_PER_SAMPLE;
		x->bytes[DIR_READ] = IOS_PER_SAMPLE * UINT64_C(4096);
		for (int k = 0; k < IOS_PER_SAMPLE; k++) {
			uint64_t ns = latency(&random);

			hist_add(&x->service[DIR_READ], ns);
			hist_add(&x->response[DIR_READ], ns + ns / 8);
		}
	}
	return s;
}

/* Both halves of a session, as they are agreed over REST. */
static void
agree(struct sender *s)
{
	struct seal_pair pair[4];
	struct seal_session theirs;
	struct err e = {0};
	uint8_t id[SEAL_SESSION_BYTES];

	seal_random(id, sizeof(id));
	for (int i = 0; i < 4; i++)
		seal_pair_new(&pair[i]);
	if (seal_session_agree(&theirs, id, true, &pair[0], &pair[1], pair[2].public_key,
		    pair[3].public_key, &e) != 0 ||
		seal_session_agree(&s->keys, id, false, &pair[2], &pair[3],
			pair[0].public_key, pair[1].public_key, &e) != 0)
		die("agree", &e);
	session_install(sessions, s->number, &theirs, clock_mono());
}

static bool
add(struct sender *s, enum record_kind kind, size_t len)
{
	struct spool_record rec = {
		.seq = s->seq + 1,
		.kind = kind,
		.payload = s->buf,
		.len = len,
		.crc = record_crc(kind, s->seq + 1, s->buf, len),
	};

	if (wire_batch_add(&s->batch, &rec) != 0)
		return false;
	s->seq++;
	return true;
}

static bool
add_sample(struct sender *s)
{
	struct sample *x = &s->seconds[s->second];

	x->point = s->point;
	if (!add(s, RECORD_SAMPLE, sample_encode(x, s->buf, sizeof(s->buf))))
		return false;
	s->second++;
	s->left--;
	return true;
}

/* A point ended: so that packing is part of what is measured. */
static bool
add_point(struct sender *s)
{
	static struct point_record p;
	bool done;

	p.service[DIR_READ] = s->seconds[0].service[DIR_READ];
	p.response[DIR_READ] = s->seconds[0].response[DIR_READ];
	p.meta = json_pack("{s:i, s:i, s:s, s:s, s:s, s:[s, s], s:[s, s]}", "point",
		(int)s->point, "step", 1, "workload", "bench", "state", "done",
		"length_ns", "60000000000", "ops", "300000", "0", "bytes", "1228800000",
		"0");
	done = add(s, RECORD_POINT, point_encode(&p, s->buf, sizeof(s->buf)));
	point_record_fini(&p);
	if (!done)
		return false;
	s->point++;
	s->second = 0;
	return true;
}

static void
fill_batch(struct sender *s)
{
	wire_batch_start(&s->batch, s->number, 100 + s->number);
	while (s->left > 0 || s->second == POINT_SECONDS)
		if (!(s->second == POINT_SECONDS ? add_point(s) : add_sample(s)))
			return;
}

/* Sends the batch until it is acknowledged. */
static void
send_batch(struct sender *s, struct nn_req *q)
{
	struct wire_header h = {
		.major = WIRE_VERSION_MAJOR, .type = WIRE_RECORDS, .node = s->number};
	struct wire_ack acks[WIRE_ACK_MAX] = {0};
	struct err e = {0};
	uint8_t text[WIRE_ACK_BYTES];
	size_t len;
	size_t n;
	const uint8_t *payload = wire_batch_payload(&s->batch, &len);

	while (acks[0].seq < s->seq) {
		uint8_t *answer;
		uint8_t *msg;
		size_t msg_len;
		int rc;

		h.seq = ++s->transport;
		msg = wire_seal(&s->keys, &h, payload, len, &msg_len);
		rc = nn_req_call(q, msg, msg_len, 5 * NS_PER_S, &answer, &n, &e);
		free(msg);
		if (rc < 0)
			die("send", &e);
		if (rc == 0)
			continue;
		struct wire_header got;

		if (wire_header_decode(&got, answer, n, &e) != 0 ||
			wire_open(&s->keys, &got, answer, text, &len, &e) != 0)
			die("answer", &e);
		nn_msg_free(answer);
		if (got.type == WIRE_ACK && wire_ack_decode(acks, &n, text, len, &e) != 0)
			die("acknowledgement", &e);
	}
}

/* Runs as a process of its own: a round for each byte of go_fd, a byte to ended_fd for
 * each round that has ended. */
static void
be_sender(struct sender *s, int go_fd, int ended_fd)
{
	struct err e = {0};
	struct nn_req *q;
	char c;

	if (nn_req_open(&q, url, &e) != 0)
		die("connect", &e);
	while (read(go_fd, &c, 1) == 1) {
		s->left = samples_each / ROUNDS;
		while (s->left > 0 || s->second == POINT_SECONDS) {
			fill_batch(s);
			send_batch(s, q);
		}
		if (write(ended_fd, &c, 1) != 1)
			break;
	}
	nn_req_close(q);
	exit(0);
}

static int
seed(struct tx *t, void *arg, struct err *e)
{
	static const char *const sql[] = {
		"INSERT INTO suite(id, name, version, doc, digest, scaled, created_ns)"
		" VALUES (1, 's', 1, '{}', '', 0, 1)",
		"INSERT INTO campaign(id, name, doc, suite_id, state, priority, owner,"
		" labels, created_ns) VALUES (1, 'c', '{}', 1, 'running', 50, '', '{}', "
		"1)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i "
		"< 8)"
		" INSERT INTO node(id, name, admin, created_ns)"
		" SELECT i, 'n' || i, 'active', 1 FROM n",
		"INSERT INTO drive(id, kind, model, serial, wwn, capacity_bytes,"
		" logical_block_bytes, firmware, virtual, node_id, path, observed,"
		" first_seen_ns, last_seen_ns) SELECT id, 'nvme', 'm', 's' || id, '', 1,"
		" 512, '', 0, id, '/dev/x', 'present', 1, 1 FROM node",
		"INSERT INTO run(id, campaign_id, suite_id, drive_id, repeat, priority,"
		" state, retries_left, scaled, virtual, created_ns)"
		" SELECT id, 1, 1, id, 1, 50, 'running', 0, 0, 0, 1 FROM node",
		"INSERT INTO attempt(id, run_id, number, node_id, fence, program, state,"
		" granted_ns) SELECT id, id, 1, id, 100 + id, '{}', 'running', 1 FROM "
		"node",
	};

	(void)arg;
	for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]); i++)
		if (tx_exec(t, e, sql[i], "") != 0)
			return -1;
	return 0;
}

static int
count_stored(struct tx *t, void *arg, struct err *e)
{
	return tx_int(t, arg, e,
		       "SELECT (SELECT count(*) FROM record WHERE kind = 2)"
		       " + (SELECT coalesce(sum(n), 0) FROM series)",
		       "") < 0
		       ? -1
		       : 0;
}

static struct loop *loop;

static void
job_done(void *arg, const struct err *e)
{
	(void)arg;
	if (e != NULL)
		die("job", e);
	loop_stop(loop);
}

static void
run_job(struct store *s, store_fn *fn, void *arg)
{
	struct err e = {0};

	if (store_write(s, fn, job_done, arg, &e) != 0 || loop_run(loop, &e) != 0)
		die("job", &e);
}

/* The controller's side. */
struct side {
	struct store *store;
	struct link *link;
	int ended_fd;
	int left; /* senders of this round that go on */
	double seconds, cpu;
};

static void
on_ended(void *arg, uint32_t events)
{
	struct side *x = arg;
	char buf[SENDERS];
	ssize_t n = read(x->ended_fd, buf, sizeof(buf));

	(void)events;
	if (n <= 0) {
		fprintf(stderr, "bench: a sender has died\n");
		exit(1);
	}
	x->left -= (int)n;
	if (x->left == 0)
		loop_stop(loop);
}

static double
cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void
open_side(struct side *x, const char *path, int ended_fd)
{
	struct link_env env = {.loop = loop, .sessions = sessions, .url = url};
	struct err e = {0};

	if (store_open(&x->store, path, loop, &e) != 0)
		die("store", &e);
	run_job(x->store, seed, NULL);
	env.store = x->store;
	x->ended_fd = ended_fd;
	if (link_open(&x->link, &env, &e) != 0 ||
		loop_add_fd(loop, ended_fd, EPOLLIN, on_ended, x, &e) != 0)
		die("link", &e);
}

/* One round: all senders send their part and have it acknowledged. */
static void
ingest_round(struct side *x, int go_fd)
{
	double cpu = cpu_seconds();
	int64_t start = clock_mono();
	struct err e = {0};

	x->left = SENDERS;
	if (write(go_fd, "12345678", SENDERS) != SENDERS || loop_run(loop, &e) != 0)
		die("loop", &e);
	x->seconds += (double)(clock_mono() - start) / 1e9;
	x->cpu += cpu_seconds() - cpu;
}

/* Checks that everything is there, and closes; returns samples a second. */
static double
close_side(struct side *x)
{
	const struct link_counts *n = link_counts(x->link);
	uint64_t sent = SENDERS * ROUNDS * (samples_each / ROUNDS);
	int64_t stored = 0;

	loop_del_fd(loop, x->ended_fd);
	run_job(x->store, count_stored, &stored);
	if ((uint64_t)stored != sent || n->refused + n->nacks > 0) {
		fprintf(stderr, "bench: %" PRId64 " samples stored of %" PRIu64 "\n",
			stored, sent);
		exit(1);
	}
	printf("ingest: %.0f samples/s committed (%" PRId64 " in %.2f s, %" PRIu64
	       " messages, controller %.2f cores)\n",
		(double)stored / x->seconds, stored, x->seconds, n->messages,
		x->cpu / x->seconds);
	link_close(x->link);
	store_close(x->store);
	return (double)stored / x->seconds;
}

static void
check(sqlite3 *db, int code)
{
	if (code == SQLITE_OK || code == SQLITE_DONE)
		return;
	fprintf(stderr, "bench: %s\n", sqlite3_errmsg(db));
	exit(1);
}

static void
insert_batch(sqlite3 *db, sqlite3_stmt *insert, const struct sender *s, uint64_t *rows)
{
	struct wire_batch copy = s->batch;
	struct wire_batch head;
	struct wire_cursor c;
	struct spool_record rec;
	struct err e = {0};
	size_t len;
	const uint8_t *payload = wire_batch_payload(&copy, &len);

	if (wire_batch_decode(&head, &c, payload, len, &e) != 0)
		die("batch", &e);
	check(db, sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL));
	while (wire_cursor_next(&c, &rec, &e) == 1) {
		sqlite3_bind_int64(insert, 1, (int64_t)head.attempt);
		sqlite3_bind_int64(insert, 2, (int64_t)rec.seq);
		sqlite3_bind_int64(insert, 3, (int64_t)rec.kind);
		sqlite3_bind_int64(insert, 4, s->point);
		sqlite3_bind_int64(insert, 5, (int64_t)rec.crc);
		sqlite3_bind_blob64(insert, 6, rec.payload, rec.len, SQLITE_STATIC);
		check(db, sqlite3_step(insert));
		sqlite3_reset(insert);
		*rows += rec.kind == RECORD_SAMPLE;
	}
	check(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
}

/* SQLite alone. */
struct raw {
	sqlite3 *db;
	sqlite3_stmt *insert;
	uint64_t rows;
	int64_t busy_ns;
};

static void
open_raw(struct raw *r, const char *path)
{
	struct err e = {0};
	struct store *store;

	/* The store makes the schema; after that SQLite is alone with the file. */
	if (store_open(&store, path, loop, &e) != 0)
		die("store", &e);
	run_job(store, seed, NULL);
	store_close(store);
	check(NULL, sqlite3_open(path, &r->db));
	check(r->db, sqlite3_exec(r->db,
			     "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
			     " PRAGMA foreign_keys = ON",
			     NULL, NULL, NULL));
	check(r->db,
		sqlite3_prepare_v2(r->db,
			"INSERT INTO record(attempt_id, seq, kind, point, crc, payload)"
			" VALUES (?, ?, ?, ?, ?, ?)",
			-1, &r->insert, NULL));
}

/* Inserts what the senders send in a round. */
static void
raw_round(struct raw *r)
{
	bool more = true;

	for (int i = 0; i < SENDERS; i++)
		senders[i]->left = samples_each / ROUNDS;
	while (more) {
		more = false;
		for (int i = 0; i < SENDERS; i++) {
			struct sender *s = senders[i];
			int64_t start;

			if (s->left == 0)
				continue;
			fill_batch(s);
			start = clock_mono();
			insert_batch(r->db, r->insert, s, &r->rows);
			r->busy_ns += clock_mono() - start;
			more |= s->left > 0;
		}
	}
}

static double
close_raw(struct raw *r)
{
	double seconds = (double)r->busy_ns / 1e9;

	sqlite3_finalize(r->insert);
	check(r->db, sqlite3_close(r->db));
	printf("sqlite: %.0f rows/s committed of the same samples (%" PRIu64
	       " in %.2f s)\n",
		(double)r->rows / seconds, r->rows, seconds);
	return (double)r->rows / seconds;
}

static void
tell_size(void)
{
	static uint8_t buf[RECORD_MAX_BYTES];
	struct sample *x = &senders[0]->seconds[0];
	unsigned used = 0;

	x->point = 1;
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		used += x->service[DIR_READ].count[i] != 0;
	printf("sample: %zu bytes, two histograms of %u buckets in use\n",
		sample_encode(x, buf, sizeof(buf)), used);
}

static void
start_senders(const int go[2], const int ended[2])
{
	for (int i = 0; i < SENDERS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			exit(1);
		if (pid == 0) {
			close(go[1]);
			close(ended[0]);
			be_sender(senders[i], go[0], ended[1]);
		}
	}
	close(ended[1]);
}

int
main(int argc, char **argv)
{
	char path[2][256];
	struct err e = {0};
	int go[2];
	int ended[2];
	struct side side = {0};
	struct raw raw = {0};
	double ingest;

	if (argc > 1 && parse_uint(argv[1], 1, 10000000, &samples_each, &e) != 0)
		die("samples", &e);
	dir = xasprintf("%s/bench-ingest.XXXXXX", argc > 2 ? argv[2] : ".");
	parent = getpid();
	if (mkdtemp(dir) == NULL || atexit(remove_dir) != 0 || pipe(go) != 0 ||
		pipe(ended) != 0)
		return 1;
	choose_url();
	snprintf(path[0], sizeof(path[0]), "%s/ingest.db", dir);
	snprintf(path[1], sizeof(path[1]), "%s/raw.db", dir);
	log_set_level(LOG_LEVEL_WARN);
	seal_init();
	sessions = session_book_new();
	for (unsigned i = 0; i < SENDERS; i++) {
		senders[i] = make_sender(i + 1);
		agree(senders[i]);
	}
	tell_size();
	fflush(stdout);
	start_senders(go, ended);
	if (loop_new(&loop, &e) != 0)
		die("loop", &e);
	/* First, because a loop belongs to one store at a time. */
	open_raw(&raw, path[1]);
	open_side(&side, path[0], ended[0]);
	for (int i = 0; i < ROUNDS; i++) {
		ingest_round(&side, go[1]);
		raw_round(&raw);
	}
	close(go[1]);
	ingest = close_side(&side);
	printf("ratio:  %.2f\n", ingest / close_raw(&raw));
	while (wait(NULL) > 0)
		;
	loop_free(loop);
	session_book_free(sessions);
	return 0;
}
