#include "policy/segments.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "policy/phases.h"

enum {
    NS_PER_ROW = 4,     /* about, to set a bit of it */
    NS_PER_CROSSING = 8 /* to see whether a tensor crosses a cut */
};

/* ---- cuts ---- */

uint32_t *rp_count_crossing(const struct rp_instance *p, uint32_t n_forward) {
    uint32_t *crossing = rp_calloc((size_t)n_forward + 2, sizeof *crossing);
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < n_forward; x++) {
        uint32_t last = rp_forward_last(p, n_forward, x);
        crossing[p->producer[x] + 1]++;
        crossing[last + 1]--;
    }
    for (uint32_t i = 1; i <= n_forward; i++)
        crossing[i] += crossing[i - 1];
    return crossing;
}

void rp_cuts_init(const struct rp_instance *p, uint32_t n_forward, struct rp_cuts *cuts) {
    uint32_t *crossing = rp_count_crossing(p, n_forward);
    bool has_bytes = false; /* the segment makes something larger than 0 bytes */
    *cuts = (struct rp_cuts){0};
    cuts->end = rp_calloc((size_t)n_forward + 1, sizeof *cuts->end);
    for (uint32_t i = 1; i < n_forward; i++) {
        for (uint32_t x = p->output_start[i - 1]; x < p->output_start[i]; x++)
            has_bytes = has_bytes || p->bytes[x] > 0;
        /* Nothing crosses the ends of the phase. One tensor may cross the cuts next to
         * them. */
        if (has_bytes && crossing[i] > 0 && crossing[i] <= crossing[i - 1] + (i == 1) &&
            crossing[i] <= crossing[i + 1] + (i + 1 == n_forward)) {
            cuts->end[cuts->n++] = i;
            has_bytes = false;
        }
    }
    if (n_forward > 0)
        cuts->end[cuts->n++] = n_forward;
    free(crossing);
}

void rp_cuts_fini(struct rp_cuts *cuts) {
    free(cuts->end);
    *cuts = (struct rp_cuts){0};
}

/* ---- segments ---- */

static bool crosses(const struct rp_segments *s, uint32_t x, uint32_t k) {
    return rp_forward_last(s->p, s->n_forward, x) >= s->cuts->end[k];
}

static void find_backward_stages(struct rp_segments *s) {
    const struct rp_instance *p = s->p;
    for (uint32_t k = 0; k < s->cuts->n; k++)
        s->backward_stage[k] = p->n_ops;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < s->n_forward; x++) {
        uint32_t k = s->segment_of[p->producer[x]];
        uint32_t need = rp_backward_need(p, s->n_forward, x);
        if (!crosses(s, x, k) && need != RP_NONE && need < s->backward_stage[k])
            s->backward_stage[k] = need;
    }
}

static void find_derived_needs(struct rp_segments *s) {
    const struct rp_instance *p = s->p;
    for (uint32_t x = p->n_tensors; x-- > 0;) {
        uint32_t need = rp_instance_last_need(p, x);
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            uint32_t j = p->readers[e];
            for (uint32_t y = p->output_start[j];
                 j < s->n_forward && y < p->output_start[j + 1]; y++)
                need = rp_max_u32(need, s->last_derived_need[y]);
        }
        s->last_derived_need[x] = need;
    }
}

void rp_segments_init(const struct rp_instance *p, uint32_t n_forward,
                      const struct rp_cuts *cuts, struct rp_stop *stop,
                      struct rp_segments *s) {
    *s = (struct rp_segments){.p = p, .n_forward = n_forward, .cuts = cuts, .stop = stop};
    s->segment_of = rp_calloc(p->n_ops, sizeof *s->segment_of);
    s->backward_stage = rp_calloc(cuts->n, sizeof *s->backward_stage);
    s->last_derived_need = rp_calloc(p->n_tensors, sizeof *s->last_derived_need);
    for (uint32_t i = 0, k = 0; i < p->n_ops; i++) {
        while (k < cuts->n && i >= cuts->end[k])
            k++;
        s->segment_of[i] = k;
    }
    find_backward_stages(s);
    find_derived_needs(s);
}

void rp_segments_fini(struct rp_segments *s) {
    free(s->segment_of);
    free(s->backward_stage);
    free(s->last_derived_need);
    *s = (struct rp_segments){0};
}

void rp_segments_base(const struct rp_segments *s, struct rp_schedule *to) {
    const struct rp_instance *p = s->p;
    for (uint32_t x = 0;
         x < p->n_tensors && !rp_stop_after(s->stop, NS_PER_ROW * (uint64_t)p->n_ops);
         x++) {
        uint32_t i = p->producer[x], last = rp_instance_last_need(p, x);
        uint32_t first = i + 1;
        rp_schedule_set(to, x, 0, p->n_ops, false);
        if (i < s->n_forward && !p->irreplaceable[x] && !p->kept[x]) {
            uint32_t stage = rp_min_u32(rp_backward_need(p, s->n_forward, x),
                                        s->backward_stage[s->segment_of[i]]);
            rp_schedule_set(to, x, first, rp_forward_last(p, s->n_forward, x), true);
            if (stage >= last)
                continue;
            first = rp_max_u32(stage + 1, first);
        }
        rp_schedule_set(to, x, first, p->irreplaceable[x] ? s->last_derived_need[x] : last,
                        true);
    }
}

void rp_segments_hold_cut(const struct rp_segments *s, struct rp_schedule *to, uint32_t k,
                          uint32_t first, uint32_t last) {
    const struct rp_instance *p = s->p;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < s->cuts->end[k]; x++) {
        uint32_t made = p->producer[x] + 1;
        if (rp_stop_after(s->stop, NS_PER_CROSSING))
            return;
        if (crosses(s, x, k) && made <= last &&
            !rp_stop_after(s->stop, NS_PER_ROW * (uint64_t)(last - made)))
            rp_schedule_set(to, x, rp_max_u32(first, made), last, true);
    }
}
