#include "policy/segments.h"

#include <stdlib.h>

#include "base/mem.h"

static void find_turns(struct rp_segmented *s) {
    const struct rp_instance *p = s->p;
    for (uint32_t k = 0; k <= s->cuts->n; k++)
        s->turn[k] = p->n_ops;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < s->n_forward; x++) {
        uint32_t k = s->segment_of[p->producer[x]];
        uint32_t need = rp_backward_need(p, s->n_forward, x);
        bool crosses = rp_forward_last(p, s->n_forward, x) >= s->cuts->end[k];
        if (!crosses && need != RP_NONE && need < s->turn[k])
            s->turn[k] = need;
    }
}

/* What may run once only is needed as long as anything made of it in the forward phase. */
static void find_reach(struct rp_segmented *s) {
    const struct rp_instance *p = s->p;
    for (uint32_t x = p->n_tensors; x-- > 0;) {
        s->reach[x] = rp_instance_last_need(p, x);
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            uint32_t j = p->readers[e];
            for (uint32_t y = p->output_start[j];
                 j < s->n_forward && y < p->output_start[j + 1]; y++)
                if (s->reach[y] > s->reach[x])
                    s->reach[x] = s->reach[y];
        }
    }
}

void rp_segmented_init(const struct rp_instance *p, uint32_t n_forward,
                       const struct rp_segments *cuts, struct rp_segmented *s) {
    *s = (struct rp_segmented){.p = p, .n_forward = n_forward, .cuts = cuts};
    s->segment_of = rp_calloc(p->n_ops, sizeof *s->segment_of);
    s->turn = rp_calloc((size_t)cuts->n + 1, sizeof *s->turn);
    s->reach = rp_calloc(p->n_tensors, sizeof *s->reach);
    find_reach(s);
    for (uint32_t i = 0, k = 0; i < p->n_ops; i++) {
        while (k < cuts->n && i >= cuts->end[k])
            k++;
        s->segment_of[i] = k;
    }
    find_turns(s);
}

void rp_segmented_fini(struct rp_segmented *s) {
    free(s->segment_of);
    free(s->turn);
    free(s->reach);
    *s = (struct rp_segmented){0};
}

void rp_segmented_base(const struct rp_segmented *s, struct rp_schedule *to) {
    const struct rp_instance *p = s->p;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint32_t i = p->producer[x], last = rp_instance_last_need(p, x);
        uint32_t first = i + 1;
        rp_schedule_set(to, x, 0, p->n_ops, false);
        if (i < s->n_forward && p->recompute[i] && !p->kept[x]) {
            uint32_t turn = s->turn[s->segment_of[i]];
            uint32_t need = rp_backward_need(p, s->n_forward, x);
            turn = need < turn ? need : turn;
            rp_schedule_set(to, x, first, rp_forward_last(p, s->n_forward, x), true);
            if (turn >= last)
                continue;
            first = turn + 1 > first ? turn + 1 : first;
        }
        rp_schedule_set(to, x, first, p->recompute[i] ? last : s->reach[x], true);
    }
}

void rp_segmented_hold(const struct rp_segmented *s, struct rp_schedule *to, uint32_t k,
                       uint32_t first, uint32_t last) {
    uint32_t *x = rp_calloc(s->p->n_tensors, sizeof *x);
    uint32_t n = rp_crossing(s->p, s->n_forward, s->cuts->end[k], x);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t made = s->p->producer[x[i]] + 1;
        if (made <= last)
            rp_schedule_set(to, x[i], first > made ? first : made, last, true);
    }
    free(x);
}
