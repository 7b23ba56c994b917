/* Cuts and segments of random graphs against the definitions in segments.h and phases.h. */
#include "policy/segments.h"

#include <stdlib.h>

#include "base/numbers.h"
#include "gen.h"
#include "policy/phases.h"
#include "run.h"

enum { MAX_OPS = 24 };

/* x is read by the op. */
static bool reads(const struct rp_instance *p, uint32_t op, uint32_t x) {
    for (uint32_t k = p->input_start[op]; k < p->input_start[op + 1]; k++)
        if (p->inputs[k] == x)
            return true;
    return false;
}

/* The first op from `from` to `to` - 1 that reads x; RP_NONE if there is none. */
static uint32_t first_reader(const struct rp_instance *p, uint32_t x, uint32_t from,
                             uint32_t to) {
    for (; from < to; from++)
        if (reads(p, from, x))
            return from;
    return RP_NONE;
}

/* x is made before op i and read by a forward op from i on. */
static bool crosses(const struct rp_instance *p, uint32_t n_forward, uint32_t x,
                    uint32_t i) {
    return p->producer[x] < i && first_reader(p, x, i, n_forward) != RP_NONE;
}

static uint32_t n_crossing(const struct rp_instance *p, uint32_t n_forward, uint32_t i) {
    uint32_t n = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        n += crosses(p, n_forward, x, i);
    return n;
}

/* ---- cuts ---- */

/* No more tensors cross before op i than before its neighbours. At the ends of the phase
 * one counts as crossing. */
static bool is_narrow(const struct rp_instance *p, uint32_t n_forward, uint32_t i) {
    uint32_t n = n_crossing(p, n_forward, i);
    uint32_t before = n_crossing(p, n_forward, i - 1) + (i == 1);
    uint32_t after = n_crossing(p, n_forward, i + 1) + (i + 1 == n_forward);
    return n > 0 && n <= before && n <= after;
}

static bool cuts_are_right(const struct rp_instance *p, uint32_t n_forward,
                           const struct rp_cuts *cuts) {
    uint32_t k = 0, begin = 0;
    for (uint32_t i = 1; i < n_forward; i++) {
        uint64_t bytes = 0; /* made in the segment */
        for (uint32_t x = 0; x < p->n_tensors; x++)
            bytes += p->producer[x] >= begin && p->producer[x] < i ? p->bytes[x] : 0;
        if (!is_narrow(p, n_forward, i) || bytes == 0)
            continue;
        if (k >= cuts->n || cuts->end[k++] != i)
            return false;
        begin = i;
    }
    return n_forward == 0 ? cuts->n == 0 : k + 1 == cuts->n && cuts->end[k] == n_forward;
}

/* ---- segments ---- */

static uint32_t segment_of(const struct rp_segments *s, uint32_t op) {
    uint32_t k = 0;
    while (k < s->cuts->n && op >= s->cuts->end[k])
        k++;
    return k;
}

static uint32_t backward_need(const struct rp_segments *s, uint32_t x) {
    return first_reader(s->p, x, s->n_forward, s->p->n_ops);
}

/* The first backward stage that reads what is made and used up in segment k. */
static uint32_t backward_stage(const struct rp_segments *s, uint32_t k) {
    uint32_t first = s->p->n_ops;
    for (uint32_t x = 0; x < s->p->n_tensors; x++)
        if (s->p->producer[x] < s->n_forward && segment_of(s, s->p->producer[x]) == k &&
            !crosses(s->p, s->n_forward, x, s->cuts->end[k]))
            first = rp_min_u32(first, backward_need(s, x));
    return first;
}

static uint32_t last_need(const struct rp_instance *p, uint32_t x) {
    uint32_t last = p->kept[x] ? p->n_ops : p->producer[x];
    for (uint32_t i = 0; i < p->n_ops && !p->kept[x]; i++)
        last = reads(p, i, x) ? i : last;
    return last;
}

/* The last need of x and of all that forward ops make of it. */
static uint32_t last_derived_need(const struct rp_segments *s, uint32_t x) {
    const struct rp_instance *p = s->p;
    uint32_t last = last_need(p, x);
    for (uint32_t y = x + 1; y < p->n_tensors; y++)
        if (p->producer[y] < s->n_forward && reads(p, p->producer[y], x))
            last = rp_max_u32(last, last_derived_need(s, y));
    return last;
}

/* Does the base schedule hold x as stage t begins? */
static bool is_held(const struct rp_segments *s, uint32_t x, uint32_t t) {
    const struct rp_instance *p = s->p;
    uint32_t made = p->producer[x];
    if (t <= made)
        return false;
    if (p->irreplaceable[x])
        return t <= last_derived_need(s, x);
    if (t > last_need(p, x))
        return false;
    if (made >= s->n_forward || p->kept[x] || crosses(p, s->n_forward, x, t))
        return true;
    return t > rp_min_u32(backward_need(s, x), backward_stage(s, segment_of(s, made)));
}

static bool schedules_are_right(const struct rp_segments *s) {
    const struct rp_instance *p = s->p;
    struct rp_schedule base, cut;
    bool ok = true;
    /* To the stage after the cut, where the last tensor that crosses it has just been made.
     */
    uint32_t k = s->cuts->n / 2, first = p->n_ops / 4;
    uint32_t last = rp_max_u32(first, s->cuts->end[k]);
    rp_schedule_empty(p, &base);
    rp_schedule_empty(p, &cut);
    rp_segments_base(s, &base);
    rp_segments_hold_cut(s, &cut, k, first, last);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t t = 0; t <= p->n_ops; t++)
            ok = ok && rp_held(&base, t, x) == is_held(s, x, t) &&
                 rp_held(&cut, t, x) == (t >= first && t <= last && t > p->producer[x] &&
                                         crosses(p, s->n_forward, x, s->cuts->end[k]));
    rp_schedule_fini(&base);
    rp_schedule_fini(&cut);
    return ok;
}

static bool one_case(const struct rp_graph *g) {
    struct rp_instance p;
    struct rp_cuts cuts;
    struct rp_segments s;
    rp_instance_init(&p, g, UINT64_MAX / 2, false, NULL);
    uint32_t n_forward = rp_forward_ops(&p);
    rp_cuts_init(&p, n_forward, &cuts);
    bool ok = cuts_are_right(&p, n_forward, &cuts);
    rp_segments_init(&p, n_forward, &cuts, NULL, &s);
    for (uint32_t i = 0; i < p.n_ops; i++)
        ok = ok && s.segment_of[i] == segment_of(&s, i);
    for (uint32_t k = 0; k < cuts.n; k++)
        ok = ok && s.backward_stage[k] == backward_stage(&s, k);
    for (uint32_t x = 0; x < p.n_tensors; x++)
        ok = ok && s.last_derived_need[x] == last_derived_need(&s, x);
    ok = ok && schedules_are_right(&s);
    rp_segments_fini(&s);
    rp_cuts_fini(&cuts);
    rp_instance_fini(&p);
    return ok && cuts.n == 0 && cuts.end == NULL;
}

static void segments_are_as_defined(void) {
    uint32_t n = 400;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)seed % (MAX_OPS - 3));
        struct rp_graph g;
        shape.training = true;
        shape.reach = 1 + (uint32_t)seed % 4; /* narrow enough to have cuts */
        shape.max_inputs = 2;
        rp_gen_graph(seed, &shape, &g);
        if (!one_case(&g)) {
            rp_gen_failed(seed);
            CU_FAIL("other cuts, segments or schedules");
        }
        rp_graph_fini(&g);
    }
}

void suite_segments(void) {
    RP_SUITE("segments");
    RP_TEST(segments_are_as_defined);
}
