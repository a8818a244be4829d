/*
 * host - what this machine calls itself. Texts only; nothing fails: what is not known is
 * "". Any thread.
 */
#ifndef AGENT_HOST_H
#define AGENT_HOST_H

#include <stddef.h>

/* host_name writes the host name; size: of ret_text, also below. */
void host_name(char *ret_text, size_t size);

/* host_machine_id writes /etc/machine-id. */
void host_machine_id(char *ret_text, size_t size);

/* host_boot_id writes the kernel's boot id, another one after each boot. */
void host_boot_id(char *ret_text, size_t size);

/*
 * host_trouble writes what keeps this node from taking runs, "" for nothing: the file
 * system of dir has less room than a few records need. was: what it wrote last time; it
 * asks for some more room before it changes its mind. Waits for statvfs(3) only.
 */
void host_trouble(const char *dir, const char *was, char *ret_text, size_t size);

#endif
