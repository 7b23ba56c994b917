#include "solve/core/prune.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Removes the swap-ins that stage t neither reads nor holds on. `stage` is its
 * evaluation. */
static void remove_unused_swap_ins(const struct rp_instance *p, struct rp_schedule *s,
                                   uint32_t t, const struct rp_stage *stage) {
    uint64_t *in = s->ins + (size_t)t * s->words;
    const uint64_t *next = s->rows + (size_t)(t + 1) * s->words;
    uint64_t *read = rp_calloc(s->words, sizeof *read);
    for (uint32_t a = 0; a < stage->n_runs; a++)
        for (uint32_t j = stage->runs[a], k = p->input_start[j]; k < p->input_start[j + 1];
             k++)
            read[p->inputs[k] / 64] |= (uint64_t)1 << (p->inputs[k] % 64);
    for (size_t i = 0; i < s->words; i++)
        in[i] &= next[i] | read[i];
    free(read);
}

/* The tensors whose holds may wait for a copy out, or that stay for good. */
static uint64_t *find_held_on(const struct rp_instance *p, const struct rp_schedule *s) {
    uint64_t *held_on = rp_schedule_swapped(s), *out = rp_schedule_copied_out(p, s);
    for (size_t i = 0; i < s->words; i++)
        held_on[i] |= out[i];
    for (uint32_t x = 0; x < p->n_tensors && p->n_homes > 0; x++)
        if (rp_is_version(p, x) && rp_source_stays(p, s, x))
            held_on[x / 64] |= (uint64_t)1 << (x % 64);
    free(out);
    return held_on;
}

bool rp_schedule_prune_until(const struct rp_instance *p, struct rp_schedule *s,
                             struct rp_stop *stop) {
    struct rp_stage_work w = {0};
    bool sound = true, stopped = false;
    uint64_t *held_on = find_held_on(p, s);
    uint64_t *needed = rp_calloc(s->words, sizeof *needed);
    rp_stage_work_init(p, &w);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if (p->kept[x])
            needed[x / 64] |= (uint64_t)1 << (x % 64);
    for (uint32_t t = p->n_ops; sound && !stopped; t--) {
        uint64_t *row = s->rows + (size_t)t * s->words;
        for (size_t i = 0; i < s->words; i++)
            row[i] &= needed[i] | held_on[i];
        if (t == 0)
            break;
        /* Row t - 1 needs what stage t - 1 holds on or reads. */
        sound = rp_stage_eval(p, s, t - 1, &w);
        if (!sound && s->ins != NULL) {
            remove_unused_swap_ins(p, s, t - 1, &w.stage);
            sound = rp_stage_eval(p, s, t - 1, &w);
        }
        memcpy(needed, row, s->words * sizeof *needed);
        for (uint32_t a = 0; a < w.stage.n_runs && sound; a++)
            for (uint32_t j = w.stage.runs[a], k = p->input_start[j];
                 k < p->input_start[j + 1]; k++)
                needed[p->inputs[k] / 64] |= (uint64_t)1 << (p->inputs[k] % 64);
        stopped = rp_stop_after(stop, s->words);
    }
    rp_stage_work_fini(&w);
    free(needed);
    free(held_on);
    return sound && !stopped;
}

bool rp_schedule_prune(const struct rp_instance *p, struct rp_schedule *s) {
    return rp_schedule_prune_until(p, s, NULL);
}
