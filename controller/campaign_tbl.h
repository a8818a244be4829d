/*
 * The life of a campaign. It runs from the first grant until each of its runs is final:
 * done when all are done, cancelled when one of them was, else failed.
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

STATE(QUEUED, "queued")
STATE(RUNNING, "running")
STATE(PAUSED, "paused")
STATE(DONE, "done")
STATE(FAILED, "failed")
STATE(CANCELLED, "cancelled")

EVENT(START, "start")
EVENT(PAUSE, "pause")
EVENT(RESUME, "resume")
EVENT(FINISH, "finish")
EVENT(FAIL, "fail")
EVENT(CANCEL, "cancel")

EDGE(QUEUED, START, RUNNING)
EDGE(QUEUED, PAUSE, PAUSED)
EDGE(QUEUED, FINISH, DONE)
EDGE(QUEUED, FAIL, FAILED)
EDGE(QUEUED, CANCEL, CANCELLED)
EDGE(RUNNING, PAUSE, PAUSED)
EDGE(RUNNING, FINISH, DONE)
EDGE(RUNNING, FAIL, FAILED)
EDGE(RUNNING, CANCEL, CANCELLED)
EDGE(PAUSED, RESUME, RUNNING)
EDGE(PAUSED, FINISH, DONE)
EDGE(PAUSED, FAIL, FAILED)
EDGE(PAUSED, CANCEL, CANCELLED)

#undef STATE
#undef EVENT
#undef EDGE
