/*
 * command - the command line of ssdlab-controller.
 */
#ifndef CONTROLLER_COMMAND_H
#define CONTROLLER_COMMAND_H

/* command_main is main: reads the options, runs the daemon; returns the exit code. */
int command_main(int argc, char **argv);

#endif
