/*
 * link_rig - a link on a real port with its store and sessions, and the agent that talks
 * to it: a script on a thread of its own while the loop runs. For test_link.
 */
#ifndef TESTS_UNIT_LINK_RIG_H
#define TESTS_UNIT_LINK_RIG_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/nn.h"
#include "controller/link.h"
#include "controller/session.h"
#include "controller/sse.h"
#include "tests/unit/data_rig.h"

#define WAIT_NS (10 * NS_PER_S)
#define SOON_NS (20 * NS_PER_MS)

static char url[64];
static struct session_book *sessions;
static struct link *link_end;
static struct sse *stream;

/* The agent's side; it runs on a thread of its own while the loop runs here. */
static struct {
	struct nn_req *req;
	struct seal_session keys;
	uint64_t node, seq;
	struct wire_header head;       /* of the last answer */
	uint8_t text[WIRE_RECV_BYTES]; /* and its payload in the clear */
	size_t text_len;
	void (*script)(void);
	int done_fd;
} agent;

/* What the link has counted, for the agent's thread to see. */
static _Atomic uint64_t refused;
static _Atomic uint64_t messages;

static void
copy_counts(void *arg)
{
	(void)arg;
	atomic_store(&refused, link_counts(link_end)->refused);
	atomic_store(&messages, link_counts(link_end)->messages);
}

/* A port that nobody listens on: the kernel's choice. */
static int
free_port(void)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	close(fd);
	return ntohs(a.sin_port);
}

/* Agrees a session as REST would, and installs the controller's half. */
static void
agree(int64_t node)
{
	struct seal_pair own;
	struct seal_pair own_now;
	struct seal_pair peer;
	struct seal_pair peer_now;
	struct seal_session theirs;
	struct err e = {0};
	uint8_t id[SEAL_SESSION_BYTES];

	seal_random(id, sizeof(id));
	seal_pair_new(&own);
	seal_pair_new(&own_now);
	seal_pair_new(&peer);
	seal_pair_new(&peer_now);
	OK(seal_session_agree(&theirs, id, true, &own, &own_now, peer.public_key,
		peer_now.public_key, &e));
	OK(seal_session_agree(&agent.keys, id, false, &peer, &peer_now, own.public_key,
		own_now.public_key, &e));
	ck_assert(session_install(sessions, node, &theirs, clock_mono()));
	agent.node = (uint64_t)node;
	agent.seq = 0;
}

static void
set_up(void)
{
	struct link_env env = {.url = url};
	struct err e = {0};

	seal_init();
	atomic_store(&refused, 0);
	atomic_store(&messages, 0);
	rig_up();
	rig_seed();
	rig_add_running();
	feed_start(1, 101);
	snprintf(url, sizeof(url), "tcp://127.0.0.1:%d", free_port());
	sessions = session_book_new();
	stream = sse_new(rig_store, rig_loop);
	env.loop = rig_loop;
	env.store = rig_store;
	env.sessions = sessions;
	env.sse = stream;
	OK(link_open(&link_end, &env, &e));
	OK(nn_req_open(&agent.req, url, &e));
	agree(1);
}

static void
tear_down(void)
{
	nn_req_close(agent.req);
	link_close(link_end);
	sse_stop(stream);
	store_drain(rig_store);
	sse_free(stream);
	session_book_free(sessions);
	feed_reset();
	rig_down();
}

static void *
agent_main(void *arg)
{
	uint64_t one = 1;

	(void)arg;
	agent.script();
	ck_assert_int_eq(write(agent.done_fd, &one, sizeof(one)), sizeof(one));
	return NULL;
}

static bool script_done;

static void
on_script_done(void *arg, uint32_t events)
{
	(void)arg;
	(void)events;
	script_done = true;
	loop_stop(rig_loop);
}

/* Runs a script as the agent, and the loop meanwhile. */
static void
play(void (*script)(void))
{
	struct loop_timer *t = loop_timer_start(
		rig_loop, NS_PER_MS, NS_PER_MS, copy_counts, NULL);
	struct err e = {0};
	pthread_t thread;

	agent.script = script;
	agent.done_fd = eventfd(0, EFD_CLOEXEC);
	script_done = false;
	OK(loop_add_fd(rig_loop, agent.done_fd, EPOLLIN, on_script_done, NULL, &e));
	ck_assert_int_eq(pthread_create(&thread, NULL, agent_main, NULL), 0);
	rig_until(&script_done);
	pthread_join(thread, NULL);
	loop_del_fd(rig_loop, agent.done_fd);
	close(agent.done_fd);
	loop_timer_stop(rig_loop, t);
}

/* The agent's thread from here on. */

static uint8_t *
seal_message(enum wire_type type, const void *text, size_t len, size_t *ret_len)
{
	struct wire_header h = {
		.major = WIRE_VERSION_MAJOR,
		.minor = WIRE_VERSION_MINOR,
		.type = (uint8_t)type,
		.node = agent.node,
		.seq = ++agent.seq,
	};

	return wire_seal(&agent.keys, &h, text, len, ret_len);
}

/* Sends bytes; 1 and the opened answer, 0 for none within wait_ns. */
static int
send_bytes(const uint8_t *msg, size_t len, int64_t wait_ns)
{
	struct err e = {0};
	uint8_t *answer;
	size_t n;
	int rc = nn_req_call(agent.req, msg, len, wait_ns, &answer, &n, &e);

	ck_assert_msg(rc >= 0, "%s", e.text);
	if (rc == 0)
		return 0;
	OK(wire_header_decode(&agent.head, answer, n, &e));
	OK(wire_open(&agent.keys, &agent.head, answer, agent.text, &agent.text_len, &e));
	nn_msg_free(answer);
	return 1;
}

static void
call(enum wire_type type, const void *text, size_t len)
{
	size_t n;
	uint8_t *msg = seal_message(type, text, len, &n);

	ck_assert_int_eq(send_bytes(msg, n, WAIT_NS), 1);
	free(msg);
}

static void
call_batch(void)
{
	size_t len;
	const uint8_t *payload = wire_batch_payload(&rig_feed.batch, &len);

	call(WIRE_RECORDS, payload, len);
}

static void
expect_ack(uint64_t seq)
{
	struct wire_ack acks[WIRE_ACK_MAX];
	struct err e = {0};
	size_t n;

	ck_assert_uint_eq(agent.head.type, WIRE_ACK);
	OK(wire_ack_decode(acks, &n, agent.text, agent.text_len, &e));
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(acks[0].attempt, 1);
	ck_assert_uint_eq(acks[0].seq, seq);
}

static void
expect_nack(enum wire_nack want, uint64_t attempt)
{
	struct err e = {0};
	enum wire_nack code;
	uint64_t whose;

	ck_assert_uint_eq(agent.head.type, WIRE_NACK);
	OK(wire_nack_decode(&code, &whose, agent.text, agent.text_len, &e));
	ck_assert_int_eq((int)code, (int)want);
	ck_assert_uint_eq(whose, attempt);
}

/* Sends bytes until the link says that it refused them; they never get an answer. */
static void
expect_no_answer(const uint8_t *msg, size_t len)
{
	uint64_t before = atomic_load(&refused);

	for (int i = 0; i < 100 && atomic_load(&refused) == before; i++)
		ck_assert_int_eq(send_bytes(msg, len, SOON_NS * (i + 1)), 0);
	ck_assert_uint_gt(atomic_load(&refused), before);
}

static void
ping(void)
{
	struct wire_ack acks[WIRE_ACK_MAX];
	struct err e = {0};
	size_t n;

	call(WIRE_PING, "", 0);
	ck_assert_uint_eq(agent.head.type, WIRE_ACK);
	OK(wire_ack_decode(acks, &n, agent.text, agent.text_len, &e));
	ck_assert_uint_eq(n, 0);
}

#endif
