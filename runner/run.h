/*
 * run - the command `ssdlab-runner run`: one attempt of one run on one drive.
 *
 * Reads DIR/program.json, takes the drive, executes the steps, and leaves everything
 * there is to tell in DIR/spool. Needs no agent while it runs, and no network ever.
 */
#ifndef RUNNER_RUN_H
#define RUNNER_RUN_H

/*
 * run_command runs `run --dir DIR --state-dir DIR --drive PATH`; argv[0] is "run".
 * Returns the exit code: 0 once the RESULT record is durable, whatever it says; 1 when it
 * could not be written; 2 for wrong usage.
 */
int run_command(int argc, char **argv);

#endif
