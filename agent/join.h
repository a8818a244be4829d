/*
 * join - makes this machine a node of a controller: reads the join token, enrols, writes
 * the identity.
 *
 * The token is one line, a URL:
 * https://host:7443/join?name=sr-01&token=...&pin=sha256//... as `ssdlab node enroll
 * NAME` prints it. It is a secret until it was used, so it comes by standard input and
 * never by an argument.
 */
#ifndef AGENT_JOIN_H
#define AGENT_JOIN_H

#include <stdbool.h>

struct err;

struct join_token {
	char url[256]; /* "https://host:7443", no slash behind */
	char name[64];
	char token[128];
	char pin[80]; /* "sha256//..." or "" */
};

/*
 * join_parse reads a join token; white space around it is ignored. has_ca: another way of
 * knowing the controller was given, so that it needs no pin. Errors: ERR_INVALID with
 * what is wrong, ERR_UNSAFE for http to another machine or https without pin and CA.
 */
int join_parse(const char *text, bool has_ca, struct join_token *ret_t, struct err *e);

/*
 * join_run reads the token from descriptor fd, enrols and writes state_dir/identity.json
 * (state_dir is made when it is not there). ca_file: "" or what to verify against.
 * Errors: ERR_STATE when this node has joined already, those of join_parse, link_post and
 * identity_save.
 */
int join_run(int fd, const char *state_dir, const char *ca_file, struct err *e);

#endif
