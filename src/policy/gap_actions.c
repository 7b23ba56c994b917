#include "policy/gap_actions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct emitting {
    const struct rp_instance *p;
    struct rp_recorder *t;
    const struct rp_gap_actions *given;
    struct rp_gap_actions f;    /* as read: what cannot be is KEEP */
    uint32_t *owner;            /* per gap: its tensor */
    uint32_t *in_start, *ins;   /* per stage: gaps whose trigger it is */
    uint32_t *out_start, *outs; /* per stage: tensors whose swap-out it begins with */
    uint64_t *op_bits;          /* ops that run in this stage */
    uint32_t *runs, n_runs;     /* the same in order */
    uint32_t *fetch, n_fetch;   /* tensors that the closure swaps in */
    uint32_t *last_use;         /* per tensor: last run of this stage that uses it */
    bool remakes;               /* some fate is RP_REMAKE */
    uint32_t *need;             /* per gap, or NULL: rp_gap_actions_needs */
    bool *waiting;              /* per tensor: to be freed when its copy is done */
    struct {
        uint32_t *at;
        size_t n, cap;
    } queue; /* the waiting, those that no longer wait among them */
    struct {
        uint32_t *at;
        size_t n, cap;
    } held; /* what no op reads any more, for the sake of closures */
};

static uint32_t n_gaps(const struct rp_instance *p) {
    return p->reader_start[p->n_tensors];
}

void rp_gap_actions_init(const struct rp_instance *p, struct rp_gap_actions *f) {
    *f = (struct rp_gap_actions){0};
    f->fate = rp_calloc(n_gaps(p), sizeof *f->fate);
    f->trigger = rp_calloc(n_gaps(p), sizeof *f->trigger);
    f->out_at = rp_calloc(p->n_tensors, sizeof *f->out_at);
    f->stays = rp_calloc(p->n_tensors, sizeof *f->stays);
    f->until = rp_calloc(p->n_tensors, sizeof *f->until);
    memcpy(f->trigger, p->readers, n_gaps(p) * sizeof *f->trigger);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        f->out_at[x] = p->producer[x] + 1;
        f->stays[x] = true;
    }
}

void rp_gap_actions_fini(struct rp_gap_actions *f) {
    free(f->fate);
    free(f->trigger);
    free(f->out_at);
    free(f->stays);
    free(f->until);
    *f = (struct rp_gap_actions){0};
}

void rp_gap_actions_copy(const struct rp_instance *p, struct rp_gap_actions *to,
                         const struct rp_gap_actions *from) {
    memcpy(to->fate, from->fate, n_gaps(p) * sizeof *to->fate);
    memcpy(to->trigger, from->trigger, n_gaps(p) * sizeof *to->trigger);
    memcpy(to->out_at, from->out_at, p->n_tensors * sizeof *to->out_at);
    memcpy(to->stays, from->stays, p->n_tensors * sizeof *to->stays);
    memcpy(to->until, from->until, p->n_tensors * sizeof *to->until);
    to->prompt = from->prompt;
}

uint32_t rp_gap_begin(const struct rp_instance *p, uint32_t x, uint32_t e) {
    return e > p->reader_start[x] ? p->readers[e - 1] : p->producer[x];
}

uint32_t rp_gap_ending_from(const struct rp_instance *p, uint32_t x, uint32_t t) {
    uint32_t a = p->reader_start[x], b = p->reader_start[x + 1];
    while (a < b) {
        uint32_t mid = a + (b - a) / 2;
        if (p->readers[mid] < t)
            a = mid + 1;
        else
            b = mid;
    }
    return a;
}

uint32_t rp_stage_before(const struct rp_instance *p, uint32_t use, uint64_t ns,
                         uint32_t first) {
    uint64_t sum = 0;
    while (use > first && sum < ns)
        sum += p->time_ns[--use];
    return use;
}

/* ---- what is asked for, and what can be ---- */

static void sanitize(struct emitting *w) {
    const struct rp_instance *p = w->p;
    w->remakes = false;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            uint8_t *fate = &w->f.fate[e];
            w->owner[e] = x;
            if (*fate == RP_REMAKE && !p->recompute[p->producer[x]])
                *fate = RP_KEEP;
            w->remakes = w->remakes || *fate == RP_REMAKE;
            if (*fate == RP_SWAP &&
                (!rp_may_swap(p) || w->f.trigger[e] <= rp_gap_begin(p, x, e)))
                *fate = RP_KEEP;
            if (w->f.trigger[e] > p->readers[e])
                w->f.trigger[e] = p->readers[e];
        }
}

/* Sorts the SWAP gaps by trigger, and their tensors by the stage of the swap-out. */
static void sort_by_stage(struct emitting *w) {
    const struct rp_instance *p = w->p;
    uint32_t n = p->n_ops;
    memset(w->in_start, 0, ((size_t)n + 2) * sizeof *w->in_start);
    memset(w->out_start, 0, ((size_t)n + 2) * sizeof *w->out_start);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t x = 0; x < p->n_tensors; x++) {
            bool any = false;
            for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
                if (w->f.fate[e] != RP_SWAP)
                    continue;
                any = true;
                uint32_t *at = &w->in_start[w->f.trigger[e] + 1];
                if (pass == 0)
                    at[0]++;
                else
                    w->ins[at[-1]++] = e;
            }
            uint32_t *at = &w->out_start[w->f.out_at[x] + 1];
            if (any && w->f.out_at[x] < n) {
                if (pass == 0)
                    at[0]++;
                else
                    w->outs[at[-1]++] = x;
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
}

static void open(struct emitting *w, const struct rp_gap_actions *f,
                 struct rp_recorder *t) {
    const struct rp_instance *p = t->p;
    *w = (struct emitting){.p = p, .t = t, .given = f};
    rp_gap_actions_init(p, &w->f);
    rp_gap_actions_copy(p, &w->f, f);
    w->owner = rp_calloc(n_gaps(p), sizeof *w->owner);
    w->in_start = rp_calloc((size_t)p->n_ops + 2, sizeof *w->in_start);
    w->ins = rp_calloc(n_gaps(p), sizeof *w->ins);
    w->out_start = rp_calloc((size_t)p->n_ops + 2, sizeof *w->out_start);
    w->outs = rp_calloc(p->n_tensors, sizeof *w->outs);
    w->op_bits = rp_calloc((size_t)p->n_ops / 64 + 1, sizeof *w->op_bits);
    w->runs = rp_calloc((size_t)p->n_ops + 1, sizeof *w->runs);
    w->fetch = rp_calloc(p->n_tensors, sizeof *w->fetch);
    w->last_use = rp_calloc(p->n_tensors, sizeof *w->last_use);
    w->waiting = rp_calloc(p->n_tensors, sizeof *w->waiting);
    sanitize(w);
}

static void finish(struct emitting *w) {
    rp_gap_actions_fini(&w->f);
    free(w->owner);
    free(w->in_start);
    free(w->ins);
    free(w->out_start);
    free(w->outs);
    free(w->op_bits);
    free(w->runs);
    free(w->fetch);
    free(w->last_use);
    free(w->waiting);
    free(w->queue.at);
    free(w->held.at);
}

/* ---- storage that waits for its copy ---- */

static void free_waiting(struct emitting *w, size_t k) {
    uint32_t x = w->queue.at[k];
    w->queue.at[k] = w->queue.at[--w->queue.n];
    if (w->waiting[x])
        rp_recorder_free(w->t, x);
    w->waiting[x] = false;
}

static void free_copied(struct emitting *w) {
    for (size_t k = w->queue.n; k-- > 0;)
        if (!w->waiting[w->queue.at[k]] ||
            w->t->host_ready_ns[w->queue.at[k]] <= w->t->compute_ns)
            free_waiting(w, k);
}

/* Frees what waits, the first to be copied first, until so many bytes fit. */
static void make_room(struct emitting *w, uint64_t bytes) {
    while (w->queue.n > 0 && w->t->live_bytes + bytes > w->p->limit_bytes) {
        size_t first = 0;
        for (size_t k = 1; k < w->queue.n; k++)
            if (w->t->host_ready_ns[w->queue.at[k]] <
                w->t->host_ready_ns[w->queue.at[first]])
                first = k;
        free_waiting(w, first);
    }
}

static void release(struct emitting *w, uint32_t x) {
    if (!w->t->on_host[x])
        rp_recorder_swap_out(w->t, x);
    if (w->f.prompt) {
        rp_recorder_free(w->t, x);
    } else if (!w->waiting[x]) {
        w->waiting[x] = true;
        rp_push(&w->queue, x);
    }
}

static void stop_waiting(struct emitting *w, uint32_t x) {
    for (size_t k = 0; w->waiting[x] && k < w->queue.n; k++)
        if (w->queue.at[k] == x) {
            w->queue.at[k] = w->queue.at[--w->queue.n];
            w->waiting[x] = false;
        }
}

/* ---- one stage ---- */

static void begin_stage(struct emitting *w, uint32_t t) {
    for (uint32_t k = w->out_start[t]; k < w->out_start[t + 1]; k++)
        if (w->t->on_device[w->outs[k]] && !w->t->on_host[w->outs[k]])
            rp_recorder_swap_out(w->t, w->outs[k]);
    free_copied(w);
    for (uint32_t k = w->in_start[t]; k < w->in_start[t + 1]; k++) {
        uint32_t x = w->owner[w->ins[k]];
        stop_waiting(w, x);
        if (!w->t->on_device[x] && w->t->on_host[x]) {
            make_room(w, w->p->bytes[x]);
            rp_recorder_swap_in(w->t, x);
        }
    }
}

static void set_bit(uint64_t *bits, uint32_t i) {
    bits[i / 64] |= (uint64_t)1 << (i % 64);
}

static void want(struct emitting *w, uint32_t t, uint32_t x) {
    uint32_t e = rp_gap_ending_from(w->p, x, t);
    if (w->need != NULL && e < w->p->reader_start[x + 1] && t < w->need[e])
        w->need[e] = t;
    stop_waiting(w, x);
    if (w->t->on_device[x] || w->last_use[x] != RP_NONE)
        return;
    if (w->t->on_host[x])
        w->fetch[w->n_fetch++] = x;
    else
        set_bit(w->op_bits, w->p->producer[x]);
    w->last_use[x] = 0; /* seen */
}

/* Lists what runs in stage t, and what is swapped in for it. */
static void close_stage(struct emitting *w, uint32_t t) {
    const struct rp_instance *p = w->p;
    uint32_t n = 0;
    w->n_fetch = 0;
    set_bit(w->op_bits, t);
    for (size_t i = (size_t)t / 64 + 1; i-- > 0;)
        while (w->op_bits[i] != 0) {
            uint32_t j = (uint32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(w->op_bits[i]));
            w->op_bits[i] &= ~((uint64_t)1 << (j % 64));
            w->runs[n++] = j;
            for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
                want(w, t, p->inputs[k]);
        }
    w->n_runs = n;
    for (uint32_t a = 0, b = n; a + 1 < b; a++) {
        uint32_t j = w->runs[a];
        w->runs[a] = w->runs[--b];
        w->runs[b] = j;
    }
    for (uint32_t a = 0; a < n; a++) {
        uint32_t j = w->runs[a];
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            w->last_use[p->inputs[k]] = j;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            w->last_use[x] = j;
    }
}

/* What becomes of x after its last use in stage t. */
static void after_use(struct emitting *w, uint32_t t, uint32_t x) {
    const struct rp_instance *p = w->p;
    uint32_t e = rp_gap_ending_from(p, x, t + 1);
    w->last_use[x] = RP_NONE;
    if (e == p->reader_start[x + 1]) {
        /* What may run once only may be wanted by a closure yet. */
        bool wanted = w->remakes && !p->recompute[p->producer[x]] && !w->t->on_host[x] &&
                      p->reader_start[x] < e;
        if (w->f.until[x] > t)
            rp_push(&w->held, x);
        else if (!p->kept[x] && !wanted)
            rp_recorder_free(w->t, x);
        return;
    }
    bool back = t > rp_gap_begin(p, x, e) && w->f.stays[x];
    if (w->f.fate[e] == RP_REMAKE && !back)
        rp_recorder_free(w->t, x);
    if (w->f.fate[e] == RP_SWAP && !back && w->f.trigger[e] > t)
        release(w, x);
}

/* A swap-in under way of something that op j is about to make again: it is put off, or
 * left, from the next attempt on. */
static bool meets_swap_in(struct emitting *w, uint32_t t, uint32_t j) {
    bool meets = false;
    for (uint32_t x = w->p->output_start[j]; x < w->p->output_start[j + 1]; x++) {
        if (!w->t->on_device[x] || w->t->ready_ns[x] <= w->t->compute_ns)
            continue;
        uint32_t e = rp_gap_ending_from(w->p, x, t);
        meets = true;
        if (e < w->p->reader_start[x + 1] && w->p->readers[e] > t)
            w->f.trigger[e] = t + 1;
        else if (e < w->p->reader_start[x + 1])
            w->f.fate[e] = RP_REMAKE;
    }
    return meets;
}

static void free_held(struct emitting *w, uint32_t t) {
    size_t n = 0;
    for (size_t k = 0; k < w->held.n; k++) {
        uint32_t x = w->held.at[k];
        if (w->f.until[x] > t)
            w->held.at[n++] = x;
        else if (w->t->on_device[x] && !w->p->kept[x])
            rp_recorder_free(w->t, x);
    }
    w->held.n = n;
}

/* False if a run met a swap-in. */
static bool run_stage(struct emitting *w, uint32_t t) {
    const struct rp_instance *p = w->p;
    begin_stage(w, t);
    close_stage(w, t);
    for (uint32_t k = 0; k < w->n_fetch; k++) {
        uint32_t x = w->fetch[k], j = p->producer[x];
        bool made = false; /* by a run of this stage, for the sake of another output */
        for (uint32_t a = 0; a < w->n_runs && !made; a++)
            made = w->runs[a] == j;
        make_room(w, made ? 0 : p->bytes[x]);
        if (!made)
            rp_recorder_swap_in(w->t, x);
    }
    for (uint32_t a = 0; a < w->n_runs; a++) {
        uint32_t j = w->runs[a];
        free_copied(w);
        make_room(w, rp_recorder_need(w->t, j));
        if (meets_swap_in(w, t, j))
            return false;
        rp_recorder_run(w->t, j);
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

static bool run_all(struct emitting *w, uint64_t *stage_peak) {
    bool ok = true;
    rp_recorder_clear(w->t);
    sort_by_stage(w);
    w->queue.n = w->held.n = 0;
    memset(w->op_bits, 0, ((size_t)w->p->n_ops / 64 + 1) * sizeof *w->op_bits);
    for (uint32_t x = 0; x < w->p->n_tensors; x++) {
        w->last_use[x] = RP_NONE;
        w->waiting[x] = false;
    }
    for (uint32_t t = 0; t < w->p->n_ops && ok; t++) {
        uint64_t peak = w->t->peak_bytes;
        w->t->peak_bytes = w->t->live_bytes;
        ok = run_stage(w, t);
        if (stage_peak != NULL)
            stage_peak[t] = w->t->peak_bytes;
        w->t->peak_bytes = peak > w->t->peak_bytes ? peak : w->t->peak_bytes;
    }
    return ok;
}

static void run_until_sound(struct emitting *w, uint64_t *stage_peak) {
    while (!run_all(w, stage_peak))
        sanitize(w);
}

void rp_gap_actions_emit(const struct rp_gap_actions *f, struct rp_recorder *t,
                         uint64_t *stage_peak) {
    struct emitting w;
    open(&w, f, t);
    run_until_sound(&w, stage_peak);
    finish(&w);
}

void rp_gap_actions_needs(const struct rp_gap_actions *f, struct rp_recorder *t,
                          uint32_t *need) {
    struct emitting w;
    open(&w, f, t);
    memcpy(w.f.trigger, t->p->readers, n_gaps(t->p) * sizeof *need);
    memcpy(need, t->p->readers, n_gaps(t->p) * sizeof *need);
    sanitize(&w);
    w.need = need;
    run_until_sound(&w, NULL);
    finish(&w);
}

/* ---- patience ---- */

/* Puts off swap-ins that are early over a stage without room. True if any was. */
static bool put_off(const struct rp_instance *p, struct rp_gap_actions *f,
                    const uint32_t *need, uint64_t *peak) {
    bool any = false;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            if (f->fate[e] != RP_SWAP || f->trigger[e] >= need[e])
                continue;
            uint32_t t = need[e];
            while (t > f->trigger[e] && peak[t - 1] <= p->limit_bytes)
                t--;
            for (uint32_t k = f->trigger[e]; k < t; k++)
                peak[k] -= peak[k] < p->bytes[x] ? peak[k] : p->bytes[x];
            any = any || t > f->trigger[e];
            f->trigger[e] = t;
        }
    return any;
}

void rp_gap_actions_emit_patient(struct rp_gap_actions *f, struct rp_recorder *t,
                                 uint64_t *stage_peak) {
    const struct rp_instance *p = t->p;
    enum { ROUNDS = 4 };
    uint64_t *peak = rp_calloc(p->n_ops, sizeof *peak);
    uint32_t *need = rp_calloc(n_gaps(p), sizeof *need);
    rp_gap_actions_needs(f, t, need);
    rp_gap_actions_emit(f, t, peak);
    for (int k = 0; k < ROUNDS && t->peak_bytes > p->limit_bytes; k++) {
        if (!put_off(p, f, need, peak))
            break;
        rp_gap_actions_emit(f, t, peak);
    }
    if (stage_peak != NULL)
        memcpy(stage_peak, peak, p->n_ops * sizeof *peak);
    free(peak);
    free(need);
}
