/*
 * err - one failure: a class, a sentence, and where known its place and its cure.
 *
 * Filled by the function that found the failure and completed by its callers; logged or
 * answered in exactly one place. Knows no program and allocates nothing.
 */
#ifndef COMMON_ERR_H
#define COMMON_ERR_H

#include <stdbool.h>

#ifdef NDEBUG
#error "ssdlab keeps its assertions: do not build with NDEBUG"
#endif

enum err_class {
	ERR_NONE = 0,
#define ERR(name, text, status, exit_code, title) ERR_##name,
#include "common/err_tbl.h"
#undef ERR
	ERR_CLASSES
};

struct err {
	enum err_class class; /* ERR_NONE: no failure recorded */
	char text[512];	   /* one sentence without a period, complete with its subject */
	bool placed;	   /* pointer is meant, also when it is "": the whole document */
	char pointer[192]; /* JSON pointer of the offending member, or "" */
	char fix[256];	   /* what to do about it, or "" */
};

/*
 * err_set records a failure unless e already holds one (the first cause wins).
 * e may be NULL. Returns -1 always, so that callers can write `return err_set(...)`.
 */
int err_set(struct err *e, enum err_class class, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * err_errno is err_set with ": " and the text of error number num behind the sentence.
 * ENOSPC and EDQUOT turn the class into ERR_FULL. Returns -1.
 */
int err_errno(struct err *e, enum err_class class, int num, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* err_ctx puts "where: " in front of the sentence. Returns -1. */
int err_ctx(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * err_at sets the JSON pointer of the failure unless one is set; "" is the whole
 * document. Returns -1.
 */
int err_at(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* err_fix sets the cure unless one is set. Returns -1. */
int err_fix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * err_suggest sets as the cure the one of the NULL-ended list of names that name was
 * probably meant to be, or all of them when none is near. Returns -1.
 */
int err_suggest(struct err *e, const char *name, const char *const names[]);

#if defined(__clang_analyzer__) && !defined(COMMON_ERR_C)
/* Tells the analyser, which sees one file at a time, that each of these returns -1. */
#define err_set(...) (err_set(__VA_ARGS__), -1)
#define err_errno(...) (err_errno(__VA_ARGS__), -1)
#define err_ctx(...) (err_ctx(__VA_ARGS__), -1)
#define err_at(...) (err_at(__VA_ARGS__), -1)
#define err_fix(...) (err_fix(__VA_ARGS__), -1)
#endif

/* err_clear forgets the failure. */
void err_clear(struct err *e);

/* err_name returns the lower-case name of a class, for example "notfound"; "none" for
 * none. */
const char *err_name(enum err_class class);

/* err_from_name is the inverse of err_name; ERR_INTERNAL for a name that is not known. */
enum err_class err_from_name(const char *name);

/* err_title returns the title of a class, as in RFC 9457. */
const char *err_title(enum err_class class);

/* err_http_status returns the HTTP status of a class; 200 for ERR_NONE. */
int err_http_status(enum err_class class);

/* err_exit_code returns the exit code of a program that ends with this class; 0 for none.
 */
int err_exit_code(enum err_class class);

#endif
