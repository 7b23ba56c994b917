/* SPDX-License-Identifier: MIT
 *
 * expected: the checksums that a replay on the CPU must find. They come from running each
 * op once a training step, with separate storage for each tensor.
 *
 * Thread-safe for different results. */
#ifndef REPLAY_EXPECTED_H
#define REPLAY_EXPECTED_H

#include "replay.h"

/* How many training steps tell a right plan from a wrong one: 2 if ops update sources, so
 * that the second step sees what the first has left, else 1. */
uint32_t replay_usual_steps(const struct replay_program *p);

struct replay_expected {
    uint32_t n_steps;
    uint64_t *made;   /* per step and index of program.ends: what an op writes there */
    uint64_t *left;   /* per step and tensor: the last of these, or a source as it began */
    uint64_t time_ns; /* of a step, on average */
};
/* n_steps is at least 1. False if memory is lacking. Call replay_expected_fini in any case.
 */
bool replay_expected_build(const struct replay_program *p, uint32_t n_steps,
                           struct replay_expected *t);
void replay_expected_fini(struct replay_expected *t);

#endif
