/*
 * One try at a run: granted with its fence token, running once its node reports it, exited
 * once its runner has ended, sealed once all records are here. WITHDRAW takes back a grant
 * that the node has never seen. LOST: its node does not know it any more.
 */
#ifndef STATE
#define STATE(name, text)
#endif
#ifndef EVENT
#define EVENT(name, text)
#endif
#ifndef EDGE
#define EDGE(from, event, to)
#endif

STATE(GRANTED, "granted")
STATE(RUNNING, "running")
STATE(EXITED, "exited")
STATE(SEALED, "sealed")
STATE(LOST, "lost")

EVENT(START, "start")
EVENT(EXIT, "exit")
EVENT(SEAL, "seal")
EVENT(WITHDRAW, "withdraw")
EVENT(LOSE, "lose")

EDGE(GRANTED, START, RUNNING)
EDGE(GRANTED, EXIT, EXITED)
EDGE(GRANTED, WITHDRAW, SEALED)
EDGE(GRANTED, LOSE, LOST)
EDGE(RUNNING, EXIT, EXITED)
EDGE(RUNNING, LOSE, LOST)
EDGE(EXITED, SEAL, SEALED)
EDGE(EXITED, LOSE, LOST)

#undef STATE
#undef EVENT
#undef EDGE
