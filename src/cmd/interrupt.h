/* interrupt: Ctrl-C and SIGTERM as a flag that long searches look at. */
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

#endif
