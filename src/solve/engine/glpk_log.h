/* glpk_log: what GLPK has to say goes to the log, at level 2, and never to the terminal.
 * Not thread-safe: GLPK is used from one thread at a time. */
#ifndef RP_SOLVE_ENGINE_GLPK_LOG_H
#define RP_SOLVE_ENGINE_GLPK_LOG_H

/* Call it before anything else of GLPK. Returns the level for its messages. */
int rp_glpk_log(void);

#endif
