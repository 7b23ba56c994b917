/* moves_home: the move over where sources live. The instance has sources that may live on
 * the host. It returns false if its random choices left nothing to do. Not thread-safe: one
 * state, one thread.
 */
#ifndef RP_SOLVE_LOCAL_MOVES_HOME_H
#define RP_SOLVE_LOCAL_MOVES_HOME_H

#include <stdbool.h>
#include <stdint.h>

struct rp_incremental;

/* Lets a source stay on the device that lives on the host, or sends one there that stays.
 * Then it is swapped in for its first use, and freed once it has been copied out. Small
 * ones (incremental_state.h) are not sent there: a plan would make many copies and gain no
 * room. */
bool rp_move_home(struct rp_incremental *s, uint64_t *random);

#endif
