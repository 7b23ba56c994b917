#include "policy/interval_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "policy/intervals.h"

enum { NS_PER_RUN = 200 }; /* about, to record it */

struct recording {
    const struct rp_instance *p;
    struct rp_recorder *r;
    struct rp_interval_actions a;    /* what is impossible is KEEP */
    uint32_t *tensor_of_interval;    /* per interval */
    uint32_t *in_start, *swap_ins;   /* per stage: intervals whose trigger it is */
    uint32_t *out_start, *swap_outs; /* per stage: tensors whose swap-out it begins with */
    uint64_t *op_bits;               /* ops that run in this stage, not listed yet */
    uint32_t n_op_bits;              /* how many */
    uint32_t *runs, n_runs;          /* ops that run in this stage, in order */
    uint32_t *fetch, n_fetch;        /* tensors that this stage's closure swaps in */
    uint32_t *last_use;       /* per tensor made: last run of this stage that uses it, or
                                 RP_NONE */
    bool recomputes;          /* some action is RP_INTERVAL_RECOMPUTE */
    uint32_t *first_need;     /* per interval, or NULL: rp_interval_steps_first_needs */
    bool *is_leaving;         /* per tensor: to be freed once its copy is done */
    RP_VEC(uint32_t) leaving; /* these tensors */
    RP_VEC(uint32_t) held;    /* no op reads them any more, but closures may */
};

/* ---- preparation ---- */

static void drop_impossible(struct recording *w) {
    const struct rp_instance *p = w->p;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            uint8_t *action = &w->a.action[e];
            w->tensor_of_interval[e] = x;
            if (*action == RP_INTERVAL_RECOMPUTE && p->irreplaceable[x])
                *action = RP_INTERVAL_KEEP;
            w->recomputes = w->recomputes || *action == RP_INTERVAL_RECOMPUTE;
            if (*action == RP_INTERVAL_SWAP &&
                (!rp_may_swap(p) || p->pinned[x] ||
                 w->a.trigger[e] <= rp_interval_begin(p, x, e)))
                *action = RP_INTERVAL_KEEP;
            if (w->a.trigger[e] > p->readers[e])
                w->a.trigger[e] = p->readers[e];
        }
}

/* Sorts stage t's swap-ins by the stage that they are for: what is needed first is copied
 * first. There are few of them. */
static void sort_swap_ins(struct recording *w, uint32_t t) {
    const uint32_t *readers = w->p->readers;
    for (uint32_t k = w->in_start[t] + 1; k < w->in_start[t + 1]; k++)
        for (uint32_t i = k; i > w->in_start[t]; i--) {
            uint32_t *a = &w->swap_ins[i - 1], e = a[0];
            if (readers[e] <= readers[a[1]])
                break;
            a[0] = a[1];
            a[1] = e;
        }
}

/* Sorts the SWAP intervals by trigger, and their tensors by the stage of the swap-out: the
 * first pass counts, the second one fills in. */
static void sort_by_stage(struct recording *w) {
    const struct rp_instance *p = w->p;
    uint32_t n = p->n_ops;
    memset(w->in_start, 0, ((size_t)n + 2) * sizeof *w->in_start);
    memset(w->out_start, 0, ((size_t)n + 2) * sizeof *w->out_start);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t x = 0; x < p->n_tensors; x++) {
            bool any = false;
            for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
                if (w->a.action[e] != RP_INTERVAL_SWAP)
                    continue;
                any = true;
                uint32_t *at = &w->in_start[w->a.trigger[e] + 1];
                if (pass == 0)
                    at[0]++;
                else
                    w->swap_ins[at[-1]++] = e;
            }
            uint32_t *at = &w->out_start[w->a.swap_out_stage[x] + 1];
            if (any && w->a.swap_out_stage[x] < n) {
                if (pass == 0)
                    at[0]++;
                else
                    w->swap_outs[at[-1]++] = x;
            }
        }
        for (uint32_t t = 0; pass == 0 && t <= n; t++) {
            w->in_start[t + 1] += w->in_start[t];
            w->out_start[t + 1] += w->out_start[t];
        }
    }
    /* The second pass has moved each start to its end, where the next one's was. */
    memmove(w->in_start + 1, w->in_start, ((size_t)n + 1) * sizeof *w->in_start);
    memmove(w->out_start + 1, w->out_start, ((size_t)n + 1) * sizeof *w->out_start);
    w->in_start[0] = w->out_start[0] = 0;
    for (uint32_t t = 0; t < n; t++)
        sort_swap_ins(w, t);
}

static void begin(struct recording *w, const struct rp_interval_actions *a,
                  struct rp_recorder *r) {
    const struct rp_instance *p = r->p;
    *w = (struct recording){.p = p, .r = r};
    rp_interval_actions_init(p, &w->a);
    rp_interval_actions_copy(p, &w->a, a);
    w->tensor_of_interval = rp_calloc(rp_n_intervals(p), sizeof *w->tensor_of_interval);
    w->in_start = rp_calloc((size_t)p->n_ops + 2, sizeof *w->in_start);
    w->swap_ins = rp_calloc(rp_n_intervals(p), sizeof *w->swap_ins);
    w->out_start = rp_calloc((size_t)p->n_ops + 2, sizeof *w->out_start);
    w->swap_outs = rp_calloc(p->n_tensors, sizeof *w->swap_outs);
    w->op_bits = rp_calloc((size_t)p->n_ops / 64 + 1, sizeof *w->op_bits);
    w->runs = rp_calloc((size_t)p->n_ops + 1, sizeof *w->runs);
    w->fetch = rp_calloc(p->n_tensors, sizeof *w->fetch);
    w->last_use = rp_calloc(p->n_tensors, sizeof *w->last_use);
    w->is_leaving = rp_calloc(p->n_tensors, sizeof *w->is_leaving);
    drop_impossible(w);
}

static void end(struct recording *w) {
    rp_interval_actions_fini(&w->a);
    free(w->tensor_of_interval);
    free(w->in_start);
    free(w->swap_ins);
    free(w->out_start);
    free(w->swap_outs);
    free(w->op_bits);
    free(w->runs);
    free(w->fetch);
    free(w->last_use);
    free(w->is_leaving);
    free(w->leaving.at);
    free(w->held.at);
}

/* ---- storage that waits for its copy ---- */

static uint32_t take_leaving(struct recording *w, size_t k) {
    uint32_t x = w->leaving.at[k];
    w->leaving.at[k] = w->leaving.at[--w->leaving.n];
    w->is_leaving[x] = false;
    return x;
}

static void free_copied(struct recording *w) {
    for (size_t k = w->leaving.n; k-- > 0;)
        if (rp_recorder_host_ready_ns(w->r, w->leaving.at[k]) <= w->r->time.compute_ns)
            rp_recorder_free(w->r, take_leaving(w, k));
}

/* Frees tensors whose copies are not done yet, the earliest copy first, until `bytes` more
 * fit. */
static void make_room(struct recording *w, uint64_t bytes) {
    while (w->leaving.n > 0 && w->r->live_bytes + bytes > w->p->limit_bytes &&
           !rp_stop_after(w->r->stop, w->leaving.n)) {
        size_t first = 0;
        for (size_t k = 1; k < w->leaving.n; k++)
            if (rp_recorder_host_ready_ns(w->r, w->leaving.at[k]) <
                rp_recorder_host_ready_ns(w->r, w->leaving.at[first]))
                first = k;
        rp_recorder_free(w->r, take_leaving(w, first));
    }
}

static void start_leaving(struct recording *w, uint32_t x) {
    if (!w->r->on_host[x])
        rp_recorder_swap_out(w->r, x);
    if (w->a.wait_for_swap_out) {
        rp_recorder_free(w->r, x);
    } else if (!w->is_leaving[x]) {
        w->is_leaving[x] = true;
        rp_push(&w->leaving, x);
    }
}

static void stop_leaving(struct recording *w, uint32_t x) {
    for (size_t k = 0; w->is_leaving[x] && k < w->leaving.n; k++)
        if (w->leaving.at[k] == x)
            take_leaving(w, k);
}

/* ---- one stage ---- */

static void begin_stage(struct recording *w, uint32_t t) {
    for (uint32_t k = w->out_start[t]; k < w->out_start[t + 1]; k++)
        if (w->r->on_device[w->swap_outs[k]] && !w->r->on_host[w->swap_outs[k]])
            rp_recorder_swap_out(w->r, w->swap_outs[k]);
    free_copied(w);
    for (uint32_t k = w->in_start[t]; k < w->in_start[t + 1]; k++) {
        uint32_t x = w->tensor_of_interval[w->swap_ins[k]];
        stop_leaving(w, x);
        if (!w->r->on_device[x] && w->r->on_host[x]) {
            make_room(w, w->p->bytes[x]);
            rp_recorder_swap_in(w->r, x);
        }
    }
}

static void add_op(struct recording *w, uint32_t i) {
    uint64_t bit = (uint64_t)1 << (i % 64);
    w->n_op_bits += (w->op_bits[i / 64] & bit) == 0;
    w->op_bits[i / 64] |= bit;
}

/* Stage t needs x: if it is not on the device, it is swapped in or its producer runs. */
static void require(struct recording *w, uint32_t t, uint32_t x) {
    uint32_t e = rp_interval_ending_from(w->p, x, t);
    if (w->first_need != NULL && e < w->p->reader_start[x + 1] && t < w->first_need[e])
        w->first_need[e] = t;
    stop_leaving(w, x);
    if (w->r->on_device[x] || w->last_use[x] != RP_NONE)
        return;
    if (w->r->on_host[x])
        w->fetch[w->n_fetch++] = x;
    else
        add_op(w, w->p->producer[x]);
    w->last_use[x] = 0; /* seen; find_last_uses sets it */
}

static void find_last_uses(struct recording *w) {
    const struct rp_instance *p = w->p;
    for (uint32_t a = 0; a < w->n_runs; a++) {
        uint32_t j = w->runs[a];
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            w->last_use[p->inputs[k]] = j;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            w->last_use[x] = j;
    }
}

/* Lists what runs in stage t, and what is swapped in for it. Ops are visited from the last
 * to the first, since a closure only grows towards earlier ops. */
static void find_closure(struct recording *w, uint32_t t) {
    const struct rp_instance *p = w->p;
    uint32_t n = 0;
    w->n_fetch = 0;
    add_op(w, t);
    for (size_t i = (size_t)t / 64 + 1; w->n_op_bits > 0 && i-- > 0;)
        while (w->op_bits[i] != 0) {
            uint32_t j = (uint32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(w->op_bits[i]));
            w->op_bits[i] &= ~((uint64_t)1 << (j % 64));
            w->n_op_bits--;
            w->runs[n++] = j;
            for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
                require(w, t, p->inputs[k]);
        }
    w->n_runs = n;
    for (uint32_t a = 0, b = n; a + 1 < b; a++) {
        uint32_t j = w->runs[a];
        w->runs[a] = w->runs[--b];
        w->runs[b] = j;
    }
    find_last_uses(w);
}

/* x has had its last reader: it is freed, unless something still needs it. */
static void after_last_reader(struct recording *w, uint32_t t, uint32_t x) {
    const struct rp_instance *p = w->p;
    /* It cannot be recomputed for a later closure. */
    bool may_be_needed = w->recomputes && p->irreplaceable[x] && !w->r->on_host[x];
    if (w->a.hold_until[x] > t)
        rp_push(&w->held, x);
    else if (!p->kept[x] && !may_be_needed)
        rp_recorder_free(w->r, x);
}

/* x has had its last use in stage t. */
static void after_use(struct recording *w, uint32_t t, uint32_t x) {
    const struct rp_instance *p = w->p;
    uint32_t e = rp_interval_ending_from(p, x, t + 1);
    w->last_use[x] = RP_NONE;
    if (e == p->reader_start[x + 1]) {
        after_last_reader(w, t, x);
        return;
    }
    bool restored = t > rp_interval_begin(p, x, e);
    if (restored && w->a.keep_restored[x])
        return;
    if (w->a.action[e] == RP_INTERVAL_RECOMPUTE)
        rp_recorder_free(w->r, x);
    if (w->a.action[e] == RP_INTERVAL_SWAP && w->a.trigger[e] > t)
        start_leaving(w, x);
}

/* True if a swap-in is under way of an output of op j, which is about to be recomputed. For
 * the next attempt that swap-in is delayed, or becomes a recomputation. */
static bool meets_swap_in(struct recording *w, uint32_t t, uint32_t j) {
    const struct rp_instance *p = w->p;
    bool meets = false;
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
        if (!w->r->on_device[x] || rp_recorder_ready_ns(w->r, x) <= w->r->time.compute_ns)
            continue;
        uint32_t e = rp_interval_ending_from(p, x, t);
        meets = true;
        if (e < p->reader_start[x + 1] && p->readers[e] > t)
            w->a.trigger[e] = t + 1;
        else if (e < p->reader_start[x + 1])
            w->a.action[e] = RP_INTERVAL_RECOMPUTE;
    }
    return meets;
}

static void free_held(struct recording *w, uint32_t t) {
    size_t n = 0;
    for (size_t k = 0; k < w->held.n; k++) {
        uint32_t x = w->held.at[k];
        if (w->a.hold_until[x] > t)
            w->held.at[n++] = x;
        else if (w->r->on_device[x] && !w->p->kept[x])
            rp_recorder_free(w->r, x);
    }
    w->held.n = n;
}

/* Swaps in what the closure needs, unless one of its runs makes it anyway, for the sake of
 * another output. */
static void fetch_for_closure(struct recording *w) {
    for (uint32_t k = 0; k < w->n_fetch && !rp_stop_after(w->r->stop, w->n_runs); k++) {
        uint32_t x = w->fetch[k], j = w->p->producer[x];
        bool made = false;
        for (uint32_t a = 0; a < w->n_runs && !made; a++)
            made = w->runs[a] == j;
        make_room(w, made ? 0 : w->p->bytes[x]);
        if (!made)
            rp_recorder_swap_in(w->r, x);
    }
}

/* False if a run met a swap-in. Once the recorder's stop has hit, nothing is recorded. */
static bool record_stage(struct recording *w, uint32_t t) {
    const struct rp_instance *p = w->p;
    begin_stage(w, t);
    find_closure(w, t);
    fetch_for_closure(w);
    for (uint32_t a = 0; a < w->n_runs; a++) {
        uint32_t j = w->runs[a];
        if (rp_stop_after(w->r->stop, NS_PER_RUN + w->leaving.n))
            return true;
        free_copied(w);
        make_room(w, rp_recorder_run_bytes(w->r, j));
        if (meets_swap_in(w, t, j))
            return false;
        rp_recorder_run(w->r, j);
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            if (w->last_use[p->inputs[k]] == j)
                after_use(w, t, p->inputs[k]);
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            if (w->last_use[x] == j)
                after_use(w, t, x);
    }
    free_held(w, t);
    return true;
}

/* ---- all stages ---- */

static bool record_all(struct recording *w, uint64_t *stage_peak_bytes) {
    bool ok = true;
    rp_recorder_clear(w->r);
    sort_by_stage(w);
    w->leaving.n = w->held.n = 0;
    memset(w->is_leaving, 0, w->p->n_tensors * sizeof *w->is_leaving);
    for (uint32_t t = 0; t < w->p->n_ops && ok && !rp_stop_after(w->r->stop, 0); t++) {
        uint64_t peak = w->r->peak_bytes;
        w->r->peak_bytes = w->r->live_bytes;
        ok = record_stage(w, t);
        if (stage_peak_bytes != NULL)
            stage_peak_bytes[t] = w->r->peak_bytes;
        w->r->peak_bytes = rp_max_u64(peak, w->r->peak_bytes);
    }
    return ok;
}

static void record_until_sound(struct recording *w, uint64_t *stage_peak_bytes) {
    while (!record_all(w, stage_peak_bytes))
        ;
}

void rp_interval_steps_record(const struct rp_interval_actions *a, struct rp_recorder *r,
                              uint64_t *stage_peak_bytes) {
    struct recording w;
    begin(&w, a, r);
    record_until_sound(&w, stage_peak_bytes);
    end(&w);
}

void rp_interval_steps_first_needs(const struct rp_interval_actions *a,
                                   struct rp_recorder *r, uint32_t *first_need) {
    struct recording w;
    begin(&w, a, r);
    memcpy(w.a.trigger, r->p->readers, rp_n_intervals(r->p) * sizeof *first_need);
    memcpy(first_need, r->p->readers, rp_n_intervals(r->p) * sizeof *first_need);
    w.first_need = first_need;
    record_until_sound(&w, NULL);
    end(&w);
}

/* ---- early swap-ins ---- */

/* Delays swap-ins that begin before a stage without room. True if there was any. */
static bool delay_swap_ins(const struct rp_instance *p, struct rp_interval_actions *a,
                           const uint32_t *first_need, struct rp_stop *stop,
                           uint64_t *peak) {
    bool any = false;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            if (a->action[e] != RP_INTERVAL_SWAP || a->trigger[e] >= first_need[e])
                continue;
            uint32_t t = first_need[e];
            if (rp_stop_after(stop, 2 * (uint64_t)(t - a->trigger[e])))
                return false;
            while (t > a->trigger[e] && peak[t - 1] <= p->limit_bytes)
                t--;
            for (uint32_t k = a->trigger[e]; k < t; k++)
                peak[k] -= rp_min_u64(peak[k], p->bytes[x]);
            any = any || t > a->trigger[e];
            a->trigger[e] = t;
        }
    return any;
}

/* Records, then delays and records again as long as that may help. */
static void record_delayed(struct rp_interval_actions *a, struct rp_recorder *r,
                           const uint32_t *first_need, uint64_t *peak) {
    enum { MAX_DELAYS = 4 };
    const struct rp_instance *p = r->p;
    rp_interval_steps_record(a, r, peak);
    for (int k = 0; k < MAX_DELAYS && r->peak_bytes > p->limit_bytes; k++) {
        if (!delay_swap_ins(p, a, first_need, r->stop, peak))
            break;
        rp_interval_steps_record(a, r, peak);
    }
}

void rp_interval_steps_record_delayed(struct rp_interval_actions *a, struct rp_recorder *r,
                                      uint64_t *stage_peak_bytes) {
    const struct rp_instance *p = r->p;
    uint64_t *peak = rp_calloc(p->n_ops, sizeof *peak);
    uint32_t *first_need = rp_calloc(rp_n_intervals(p), sizeof *first_need);
    rp_interval_steps_first_needs(a, r, first_need);
    record_delayed(a, r, first_need, peak);
    if (stage_peak_bytes != NULL)
        memcpy(stage_peak_bytes, peak, p->n_ops * sizeof *peak);
    free(peak);
    free(first_need);
}

void rp_interval_steps_record_scheduled(struct rp_interval_actions *a,
                                        struct rp_recorder *r, uint32_t *first_need,
                                        uint64_t *stage_peak_bytes) {
    rp_interval_steps_first_needs(a, r, first_need);
    rp_interval_actions_schedule_swap_ins(r->p, a, first_need);
    rp_interval_steps_record_delayed(a, r, stage_peak_bytes);
}

/* ---- what policies decide by ---- */

uint32_t rp_fullest_stage(const struct rp_instance *p, const uint64_t *stage_peak_bytes) {
    uint32_t best = 0;
    for (uint32_t t = 1; t < p->n_ops; t++)
        if (stage_peak_bytes[t] > stage_peak_bytes[best])
            best = t;
    return best;
}

uint32_t rp_min_that_fits(uint32_t n, void (*record)(void *arg, uint32_t k), void *arg,
                          const struct rp_recorder *r) {
    uint32_t a = 0, b = n, last = RP_NONE;
    while (a < b && !rp_stop_after(r->stop, 0)) {
        uint32_t mid = a + (b - a) / 2;
        record(arg, last = mid);
        if (r->peak_bytes <= r->p->limit_bytes)
            b = mid;
        else
            a = mid + 1;
    }
    if (last != a)
        record(arg, a);
    return a;
}
