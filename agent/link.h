/*
 * link - the agent's calls to the controller's REST API. The only user of curl here.
 *
 * One thread long-polls: it sends the newest report and hands the answer to the main
 * loop, which sends the next report. A newer report, a stop or a wish for a session
 * interrupts a waiting poll at once. While the controller is away it tries again after
 * 0.2 to 10 s, with jitter, and says what is wrong once and then every minute.
 */
#ifndef AGENT_LINK_H
#define AGENT_LINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct err;
struct identity;
struct inbox;
struct link;

/* Whom to call, and how to know that it is them. All borrowed. */
struct link_peer {
	const char *url;     /* "https://host:7443" */
	const char *pin;     /* "sha256//...", or "" */
	const char *ca_file; /* verify against it instead of the pin; or "" */
	const char *bearer;  /* or "" */
};

/* link_init starts the HTTP library; once, before threads. Errors: ERR_INTERNAL. */
int link_init(struct err *e);

/* link_fini ends what link_init began. */
void link_fini(void);

/*
 * link_is_loopback says whether the host of a URL is this machine itself (localhost,
 * 127.0.0.0/8, ::1), the only place that is spoken to without TLS.
 */
bool link_is_loopback(const char *url);

/*
 * link_post sends body to path ("/api/v1/...") and waits for the answer, at most wait_ns
 * in all. *ret_answer is a new reference. Errors: ERR_NET (not reached), ERR_TIMEOUT,
 * ERR_AUTH (wrong pin or certificate, or refused), and the class of a problem document,
 * with its fix.
 */
int link_post(const struct link_peer *p, const char *path, const json_t *body,
	int64_t wait_ns, json_t **ret_answer, struct err *e);

/*
 * link_start starts the thread for an enrolled node. All is borrowed until link_stop. A
 * report that the controller does not understand is kept below state_dir, told by
 * NEWS_REFUSED, and not sent again. Errors: ERR_INTERNAL.
 */
int link_start(struct link **ret_k, const struct identity *id, const char *ca_file,
	const char *state_dir, const struct inbox *in, struct err *e);

/*
 * link_take_report hands over a report, to be sent instead of any earlier one; *report is
 * set to NULL. urgent: it has news, so a waiting poll is interrupted for it; otherwise it
 * is sent at the next turn, at most one a second. Main loop only.
 */
void link_take_report(struct link *k, json_t **report, bool urgent);

/* link_want_session has a new session agreed; NEWS_SESSION follows. Main loop only. */
void link_want_session(struct link *k);

/* link_stop interrupts what is going on and ends the thread. NULL allowed. */
void link_stop(struct link *k);

#endif
