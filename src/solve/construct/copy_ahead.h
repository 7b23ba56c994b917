/* copy_ahead: begins swap-ins as early as is of use. Where copies take longer than the
 * runs, their queue must never be idle.
 *
 * Thread safety: different schedules may be used by different threads.
 */
#ifndef RP_SOLVE_CONSTRUCT_COPY_AHEAD_H
#define RP_SOLVE_CONSTRUCT_COPY_AHEAD_H

#include "solve/core/schedule.h"

/* `stop` may be NULL. Once it hits, what is left to do is left out: `s` stays sound. */

/* Per stage: the limit less the peak; 0 for those over the limit, and for those that are
 * left out. The caller frees it. */
uint64_t *rp_schedule_room(const struct rp_instance *p, const struct rp_schedule *s,
                           struct rp_stop *stop);

/* Moves the swap-ins of `s` to earlier stages, as far as memory allows, and holds what
 * comes from there on. No stage comes over the limit that was not. A swap-in does not pass
 * one of an earlier stage, nor the last stage that held its tensor. */
void rp_schedule_prefetch(const struct rp_instance *p, struct rp_stop *stop,
                          struct rp_schedule *s);

/* Frees the memory that copies of `s`, which is sound, take for nothing: a swap-in moves to
 * the last stage, up to that of its first use, that begins before the copy starts, and what
 * was copied out is freed at the first one that begins after the copy has ended. That
 * changes no time. Swap-ins keep their order. */
void rp_schedule_trim(const struct rp_instance *p, struct rp_stop *stop,
                      struct rp_schedule *s);

/* Both in turns: the memory of copies that the queue only gets to later goes to others.
 */
void rp_schedule_copy_ahead(const struct rp_instance *p, struct rp_stop *stop,
                            struct rp_schedule *s);

#endif
