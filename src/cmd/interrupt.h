/* interrupt: Ctrl-C and SIGTERM as a flag that long searches look at, and SIGTERM when the
 * process that started this one has ended. */
#ifndef RP_CMD_INTERRUPT_H
#define RP_CMD_INTERRUPT_H

#include <signal.h>

/* Catches Ctrl-C and SIGTERM from now on. Returns a flag that this process shares with all
 * that it forks later. The first signal that any of them gets sets the flag. A second
 * signal, more than a second later, ends the process that gets it.
 *
 * Call it once, before threads or processes start. Any thread may read the flag, which
 * lasts as long as the process. */
const volatile sig_atomic_t *rp_watch_interrupts(void);

/* If $REMAT_PLAN_PARENT is the number of an open pipe to read from, this process gets
 * SIGTERM when nobody has its other end any more, or at once if nobody has. So it does not
 * outlive a process that holds the other end and ends in whatever way. Call it once. */
void rp_end_with_parent(void);

#endif
