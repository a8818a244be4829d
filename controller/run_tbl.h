/*
 * The life of a run. A run is collecting from the moment its runner has ended until every
 * record is here; what the result says decides then. LOST needs evidence: its node does
 * not know the attempt any more, or a person says so. Nothing leaves a final state.
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

STATE(PENDING, "pending")
STATE(LEASED, "leased")
STATE(RUNNING, "running")
STATE(COLLECTING, "collecting")
STATE(DONE, "done")
STATE(FAILED, "failed")
STATE(CANCELLED, "cancelled")
STATE(LOST, "lost")

EVENT(GRANT, "grant")
EVENT(START, "start")
EVENT(EXIT, "exit")
EVENT(FINISH, "finish")
EVENT(FAIL, "fail")
EVENT(RETRY, "retry")
EVENT(CANCEL, "cancel")
EVENT(LOSE, "lose")

EDGE(PENDING, GRANT, LEASED)
EDGE(PENDING, CANCEL, CANCELLED)
EDGE(PENDING, FAIL, FAILED)
EDGE(LEASED, START, RUNNING)
EDGE(LEASED, EXIT, COLLECTING)
EDGE(LEASED, CANCEL, CANCELLED)
EDGE(LEASED, LOSE, LOST)
EDGE(RUNNING, EXIT, COLLECTING)
EDGE(RUNNING, LOSE, LOST)
EDGE(COLLECTING, FINISH, DONE)
EDGE(COLLECTING, FAIL, FAILED)
EDGE(COLLECTING, RETRY, PENDING)
EDGE(COLLECTING, CANCEL, CANCELLED)
EDGE(COLLECTING, LOSE, LOST)

#undef STATE
#undef EVENT
#undef EDGE
