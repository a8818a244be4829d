/*
 * command - the command line of ssdlab-agent: the daemon, or `join`.
 */
#ifndef AGENT_COMMAND_H
#define AGENT_COMMAND_H

/* command_main does what argv says and returns the exit code of the process. */
int command_main(int argc, char **argv);

#endif
