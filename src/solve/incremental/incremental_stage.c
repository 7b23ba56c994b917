#include "solve/incremental/incremental_stage.h"

#include "base/mem.h"
#include "solve/incremental/incremental_internal.h"

static void clear_ops(uint64_t *op_bits, size_t n_words) {
    for (size_t i = 0; i < n_words; i++)
        op_bits[i] = 0;
}

static void reverse(uint32_t *at, uint32_t begin, uint32_t end) {
    for (uint32_t a = begin, b = end; a + 1 < b; a++) {
        uint32_t j = at[a];
        at[a] = at[--b];
        at[b] = j;
    }
}

/* Marks what makes x, unless that is a version of a source. Then it is stuck, if nothing
 * else is. */
static void mark_maker(struct rp_incremental *s, uint32_t x, uint32_t *stuck) {
    uint32_t j = s->p->producer[x];
    if (!rp_is_version(s->p, x))
        s->move->op_bits[j / 64] |= rp_bit(j);
    else if (*stuck == RP_NONE)
        *stuck = x;
}

/* Marks op t, and what makes the tensors that stage t has to make for the next one. */
static void mark_makers(struct rp_incremental *s, uint32_t t, uint32_t *stuck) {
    s->move->op_bits[t / 64] |= rp_bit(t);
    for (uint32_t k = 0; k < s->opens[t].n; k++) {
        uint32_t x = s->opens[t].at[k];
        if (!rp_incremental_swapped_in(s, t, x) && s->p->producer[x] != t)
            mark_maker(s, x, stuck);
    }
}

enum rp_closure rp_incremental_find_closure(struct rp_incremental *s, uint32_t t,
                                            double max_ns, double *time_ns,
                                            uint32_t *stuck) {
    const struct rp_instance *p = s->p;
    struct rp_id_list *out = &s->move->runs;
    uint64_t *op_bits = s->move->op_bits;
    uint32_t begin = out->n;
    *time_ns = 0;
    *stuck = RP_NONE;
    mark_makers(s, t, stuck);
    /* Producers come before readers: one pass from late to early finds the closure. */
    for (size_t i = (size_t)t / 64 + 1; i-- > 0;)
        while (op_bits[i] != 0) {
            uint32_t j = (uint32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(op_bits[i]));
            op_bits[i] &= ~rp_bit(j);
            rp_push(out, j);
            *time_ns += (double)p->time_ns[j];
            if (*time_ns > max_ns) {
                clear_ops(op_bits, i + 1);
                return RP_CLOSURE_TOO_SLOW;
            }
            if (t > p->last_stage[j])
                *stuck = p->output_start[j];
            for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
                uint32_t x = p->inputs[k];
                if (!rp_incremental_held(s, t, x) && !rp_incremental_swapped_in(s, t, x))
                    mark_maker(s, x, stuck);
            }
        }
    reverse(out->at, begin, out->n);
    return *stuck == RP_NONE ? RP_CLOSURE_DONE : RP_CLOSURE_STUCK;
}

/* Sets last_use of what the runs use or the stage lets go of; RP_NONE: no use. */
static void find_last_uses(struct rp_incremental *s, uint32_t t, const uint32_t *runs,
                           uint32_t n_runs) {
    const struct rp_instance *p = s->p;
    uint32_t *last_use = s->move->last_use;
    for (uint32_t k = 0; k < s->closes[t].n; k++)
        last_use[s->closes[t].at[k]] = RP_NONE;
    for (uint32_t a = 0; a < n_runs; a++) {
        uint32_t j = runs[a];
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            last_use[p->inputs[k]] = j;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            last_use[x] = j;
    }
}

/* Bytes on the device before the first run of stage t: after its first frees and with all
 * that it swaps in. */
static int64_t bytes_before_runs(const struct rp_incremental *s, uint32_t t,
                                 int64_t base_bytes) {
    const struct rp_instance *p = s->p;
    int64_t live = base_bytes;
    for (uint32_t k = 0; k < s->closes[t].n; k++)
        if (s->move->last_use[s->closes[t].at[k]] == RP_NONE)
            live -= (int64_t)p->bytes[s->closes[t].at[k]];
    if (s->swaps.n_copies > 0)
        for (uint32_t k = 0; k < s->swaps.swap_ins[t].n; k++)
            live += (int64_t)p->bytes[s->swaps.swap_ins[t].at[k].x];
    return live;
}

double rp_incremental_stage_over(struct rp_incremental *s, uint32_t t, const uint32_t *runs,
                                 uint32_t n_runs, int64_t base_bytes) {
    const struct rp_instance *p = s->p;
    const uint32_t *last_use = s->move->last_use;
    find_last_uses(s, t, runs, n_runs);
    int64_t live = bytes_before_runs(s, t, base_bytes), peak = 0;
    for (uint32_t a = 0; a < n_runs; a++) {
        uint32_t j = runs[a];
        int64_t workspace = (int64_t)p->workspace_bytes[j];
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            if (rp_incremental_held(s, t, x) || rp_incremental_swapped_in(s, t, x))
                workspace += (int64_t)p->shadow_bytes[x];
            else
                live += (int64_t)p->bytes[x];
        int64_t bytes = live + workspace - (int64_t)p->overwritten_bytes[j];
        peak = bytes > peak ? bytes : peak;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            if (last_use[p->inputs[k]] == j && !rp_incremental_held(s, t + 1, p->inputs[k]))
                live -= (int64_t)p->bytes[p->inputs[k]];
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            if (last_use[x] == j && !rp_incremental_held(s, t + 1, x))
                live -= (int64_t)p->bytes[x];
    }
    return (double)peak - (double)p->limit_bytes;
}
