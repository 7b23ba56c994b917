/* interrupt: Ctrl-C and SIGTERM as a flag that long searches look at. */
#ifndef RP_CMD_INTERRUPT_H
#define RP_CMD_INTERRUPT_H

#include <signal.h>

/* Catches Ctrl-C and SIGTERM from now on. The flag that it returns is set by the first of
 * them, in this process and in every process that it starts later, whichever of these gets
 * the signal. A second signal, more than a second later, ends its process. */
const volatile sig_atomic_t *rp_watch_interrupts(void);

#endif
