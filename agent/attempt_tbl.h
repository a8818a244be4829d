/*
 * The life of an attempt on its node. STATE(name, its spelling in agent.json, what the
 * controller is told); EVENT(name, text); EDGE(from, event, to, action). Only
 * attempt_step follows an edge: the action first (its failure changes nothing), then
 * agent.json, then the state.
 */
#ifdef STATE
STATE(STARTING, "starting", "starting") /* on disk, fence raised, perhaps spawned */
STATE(RUNNING, "running", "running")	/* the runner answered on its socket */
STATE(REFUSED, "refused", "starting")	/* not to be started; no RESULT on disk yet */
STATE(EXITED, "exited", "exited")	/* no process, RESULT is the last record */
STATE(FORGOTTEN, "forgotten", "")	/* sealed by the controller; its spool stays a while */
#endif
#ifdef EVENT
EVENT(ANSWER, "its runner answered")
EVENT(REFUSE, "it may not or cannot be started")
EVENT(RECORD, "the refusal is to be recorded")
EVENT(END, "its runner is gone")
EVENT(FORGET, "the controller has everything")
EVENT(RECALL, "the controller does not have it any more")
#endif
#ifdef EDGE
EDGE(STARTING, ANSWER, RUNNING, nothing)
EDGE(STARTING, REFUSE, REFUSED, nothing)
EDGE(STARTING, END, EXITED, finish)
EDGE(RUNNING, END, EXITED, finish)
EDGE(REFUSED, RECORD, EXITED, finish)
EDGE(EXITED, FORGET, FORGOTTEN, stamp)
EDGE(REFUSED, FORGET, FORGOTTEN, stamp)
EDGE(FORGOTTEN, RECALL, EXITED, send_again)
#endif
