#include "pack/component/branch_bound.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "pack/component/partial.h"
#include "pack/component/sorted_items.h"

enum choose_by { BY_FAILURES, BY_SLACK };

struct valley {
    uint32_t begin, end; /* sections */
    uint64_t wall;       /* the lower of the floors beside it; UINT64_MAX: none */
};

/* The best section of a valley to branch on, and the valley that this was found for. */
struct pick {
    uint64_t key;   /* of the valley (next_valley) */
    uint64_t score; /* lower is better; 0: forced */
    uint32_t section;
    bool may_raise;
};

struct rp_pack_branch_bound {
    struct rp_partial state;
    enum choose_by choose_by;
    uint32_t *rank;              /* by item: lower is tried first */
    struct pick *picks;          /* by first section of a valley: the last one found */
    uint32_t *change;            /* by section, scratch, all 0 */
    RP_VEC(uint32_t) branches;   /* items; of all nodes on the way to the current one */
    uint64_t n_nodes, max_nodes; /* of this attempt */
    uint32_t depth;
};

/* Deep enough for every component that is searched, small enough for the stack. */
enum { MAX_DEPTH = 20000, MAX_ITEMS = 10000 };
#define MAX_TOTAL_LENGTH UINT64_C(30000000) /* sum of all items' sections */

enum outcome { INFEASIBLE, FOUND, STOPPED };

static enum outcome solve(struct rp_pack_branch_bound *q, uint32_t begin, uint32_t end);

static uint64_t score(const struct rp_pack_branch_bound *q, uint32_t t, uint32_t n_branches,
                      uint64_t slack) {
    uint64_t share = slack / (q->state.goal / 1024 + 1); /* in 1024ths of the goal */
    if (n_branches <= 1)
        return 0;
    if (q->choose_by == BY_SLACK)
        return ((uint64_t)n_branches << 7) + share;
    return ((uint64_t)n_branches << 20) / (q->state.failures[t] + 1) + 1;
}

/* The best section of a valley to branch on, judged by the items that live in it only. */
static struct pick choose_section(struct rp_pack_branch_bound *q, const struct valley *v) {
    const struct rp_partial *s = &q->state;
    struct pick best = {.score = UINT64_MAX};
    uint64_t smallest = UINT64_MAX;
    uint32_t n = 0;
    for (uint32_t i = s->first[v->begin]; i < s->first[v->end]; i++) {
        const struct rp_pack_item *x = &s->p->items[i];
        if (s->placed[i] || x->hi > v->end)
            continue;
        q->change[x->lo]++;
        q->change[x->hi]--; /* wraps; the running count does not */
        smallest = rp_min_u64(smallest, x->size);
    }
    for (uint32_t t = v->begin; t < v->end; t++) {
        uint64_t slack = s->goal - s->floor[t] - s->unplaced_size[t];
        bool may_raise =
            smallest <= slack || (v->wall != UINT64_MAX && v->wall - s->floor[t] <= slack);
        n += q->change[t];
        q->change[t] = 0;
        uint64_t value = score(q, t, n + may_raise, slack);
        if (value < best.score)
            best = (struct pick){0, value, t, may_raise};
    }
    q->change[v->end] = 0;
    s->work->done += s->first[v->end] - s->first[v->begin] + v->end - v->begin;
    return best;
}

/* Where item i ends if it is placed at its low. UINT64_MAX if it is placed already, or live
 * in section t. */
static uint64_t support_level(const struct rp_partial *s, uint32_t i, uint32_t t) {
    const struct rp_pack_item *x = &s->p->items[i];
    return s->placed[i] || rp_is_live(x, t) ? UINT64_MAX : s->low[i] + x->size;
}

/* The next level at which the lowest unplaced item of section t could rest if not on the
 * floor; UINT64_MAX if there is none. An item that lives in the valley only can rest on one
 * that is not live in t. The others lie at the valley's walls or higher. */
static uint64_t next_level(const struct rp_pack_branch_bound *q, const struct valley *v,
                           uint32_t t) {
    const struct rp_partial *s = &q->state;
    uint64_t level = UINT64_MAX;
    uint32_t lo = t, hi = t + 1; /* span of the items that live in the valley only */
    for (uint32_t k = s->live_at[t]; k < s->live_at[t + 1]; k++) {
        const struct rp_pack_item *x = &s->p->items[s->live[k]];
        if (s->placed[s->live[k]])
            continue;
        if (x->lo < v->begin || x->hi > v->end) {
            level = rp_min_u64(level, s->low[s->live[k]]);
            continue;
        }
        lo = rp_min_u32(lo, x->lo);
        hi = rp_max_u32(hi, x->hi);
    }
    for (uint32_t k = s->live_at[lo]; k < s->live_at[lo + 1]; k++)
        level = rp_min_u64(level, support_level(s, s->live[k], t));
    for (uint32_t i = s->first[lo + 1]; i < s->first[hi]; i++)
        level = rp_min_u64(level, support_level(s, i, t));
    s->work->done += s->live_at[t + 1] - s->live_at[t] + s->live_at[lo + 1] -
                     s->live_at[lo] + s->first[hi] - s->first[lo];
    return level;
}

static uint64_t mix(uint64_t key, uint64_t x) {
    return (key ^ x) * RP_GOLDEN_RATIO_64 ^ (key >> 29);
}

/* The valley that starts at section *t of the range [begin, end). False if the run of equal
 * floors there has a lower neighbor. *t moves on; *key tells valleys apart. */
static bool next_valley(const struct rp_pack_branch_bound *q, uint32_t begin, uint32_t end,
                        uint32_t *t, struct valley *v, uint64_t *key) {
    const struct rp_partial *s = &q->state;
    uint64_t floor = s->floor[*t];
    *v = (struct valley){*t, *t, UINT64_MAX};
    *key = floor;
    for (; *t < end && s->floor[*t] == floor; ++*t)
        *key = mix(*key, s->hash[*t]);
    v->end = *t;
    if (v->begin > begin)
        v->wall = s->floor[v->begin - 1];
    if (v->end < end && s->floor[v->end] < v->wall)
        v->wall = s->floor[v->end];
    *key = mix(*key, v->wall);
    return v->wall > floor;
}

struct branching {
    struct valley valley;
    uint32_t section;
    uint64_t level; /* to raise its floor to; UINT64_MAX: not possible */
};

/* The section to branch on among [begin, end). */
static struct branching choose_branching(struct rp_pack_branch_bound *q, uint32_t begin,
                                         uint32_t end) {
    struct branching best = {.level = UINT64_MAX};
    uint64_t best_score = UINT64_MAX, key;
    struct valley v;
    q->state.work->done += end - begin;
    for (uint32_t t = begin; t < end && best_score > 0;) {
        if (!next_valley(q, begin, end, &t, &v, &key))
            continue;
        struct pick *pick = &q->picks[v.begin];
        if (pick->key != key) {
            *pick = choose_section(q, &v);
            pick->key = key;
        }
        if (pick->score >= best_score)
            continue;
        best = (struct branching){v, pick->section, UINT64_MAX};
        best_score = pick->score;
        if (pick->may_raise) {
            uint64_t level = next_level(q, &v, pick->section);
            if (level != UINT64_MAX &&
                level + q->state.unplaced_size[pick->section] <= q->state.goal)
                best.level = level;
        }
    }
    return best;
}

/* Appends the items that can lie on the floor of the section to q->branches, by rank. */
static void list_branches(struct rp_pack_branch_bound *q, const struct branching *b) {
    const struct rp_partial *s = &q->state;
    size_t first = q->branches.n;
    for (uint32_t k = s->live_at[b->section]; k < s->live_at[b->section + 1]; k++) {
        uint32_t i = s->live[k];
        const struct rp_pack_item *x = &s->p->items[i];
        if (s->placed[i] || x->lo < b->valley.begin || x->hi > b->valley.end)
            continue;
        rp_push(&q->branches, i);
        uint32_t *at = q->branches.at + q->branches.n - 1;
        for (; at > q->branches.at + first && q->rank[at[-1]] > q->rank[i]; at--)
            *at = at[-1];
        *at = i;
    }
    s->work->done += s->live_at[b->section + 1] - s->live_at[b->section];
}

/* Sections [begin, end), connected by unplaced items; floors are raised. */
static enum outcome branch(struct rp_pack_branch_bound *q, uint32_t begin, uint32_t end) {
    struct rp_partial *s = &q->state;
    if (++q->n_nodes > q->max_nodes || rp_pack_ended(s->work) || q->depth >= MAX_DEPTH)
        return STOPPED;
    if (rp_partial_is_dominated(s, begin, end))
        return INFEASIBLE;
    struct branching b = choose_branching(q, begin, end);
    size_t first = q->branches.n;
    enum outcome outcome = INFEASIBLE;
    list_branches(q, &b);
    size_t last = q->branches.n;
    q->depth++;
    for (size_t k = first; k < last && outcome == INFEASIBLE; k++) {
        struct rp_partial_mark mark = rp_partial_mark(s);
        rp_partial_place(s, q->branches.at[k]);
        outcome = solve(q, begin, end);
        if (outcome != FOUND)
            rp_partial_undo(s, mark);
    }
    if (outcome == INFEASIBLE && b.level != UINT64_MAX) {
        rp_partial_leave_gap(s, b.section, b.level); /* the caller undoes it */
        outcome = solve(q, begin, end);
    }
    q->depth--;
    q->branches.n = first;
    return outcome;
}

/* Places all unplaced items of sections [begin, end). Where these have become independent
 * of each other, one range after the other. The caller undoes what was placed. */
static enum outcome solve(struct rp_pack_branch_bound *q, uint32_t begin, uint32_t end) {
    const struct rp_partial *s = &q->state;
    enum outcome outcome = FOUND;
    if (!rp_partial_raise_floors(&q->state))
        return INFEASIBLE;
    while (begin < end && outcome == FOUND) {
        uint32_t stop = begin + 1;
        while (stop < end && s->n_crossing[stop] > 0)
            stop++;
        if (s->n_live[begin] > 0)
            outcome = branch(q, begin, stop);
        begin = stop;
    }
    return outcome;
}

/* One attempt from an empty arena. What was found remains in state.offset. */
static enum outcome attempt(struct rp_pack_branch_bound *q, uint64_t goal,
                            uint64_t max_nodes) {
    struct rp_partial_mark mark = rp_partial_mark(&q->state);
    q->state.goal = goal;
    q->n_nodes = 0;
    q->max_nodes = max_nodes;
    enum outcome outcome = solve(q, 0, q->state.p->n_sections);
    rp_partial_undo(&q->state, mark);
    return outcome;
}

/* Orders in which branches are tried: the larger key first. */
enum order { BY_SIZE, BY_AREA, BY_LENGTH, BY_LENGTH_AND_SIZE, N_ORDERS };

static unsigned __int128 order_key(const struct rp_pack_item *x, enum order order) {
    switch (order) {
    case BY_AREA:
        return rp_pack_area(x);
    case BY_LENGTH:
        return rp_pack_length(x);
    case BY_LENGTH_AND_SIZE:
        return ((unsigned __int128)rp_pack_length(x) << 64) + x->size;
    case BY_SIZE:
    case N_ORDERS:
        break;
    }
    return x->size;
}

/* With `random`, every key is multiplied by a factor of 1/2 .. 3/2. */
static void set_rank(struct rp_pack_branch_bound *q, enum order order, uint64_t *random) {
    const struct rp_pack_component *p = q->state.p;
    struct rp_sort_key *keys = rp_calloc(p->n, sizeof *keys);
    for (uint32_t i = 0; i < p->n; i++) {
        keys[i].item = i;
        keys[i].first = order_key(&p->items[i], order);
        if (random != NULL)
            keys[i].first *= 512 + rp_splitmix64(random) % 1024;
    }
    rp_sort_keys(keys, p->n);
    for (uint32_t i = 0; i < p->n; i++)
        q->rank[keys[i].item] = i;
    free(keys);
}

/* Luby's sequence: 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., from k = 1. */
static uint64_t luby(uint32_t k) {
    for (uint32_t span = 1;; span = 1) {
        while (2 * span + 1 <= k)
            span = 2 * span + 1;
        if (span == k)
            return (span + 1) / 2;
        k -= span;
    }
}

static bool is_small_enough(const struct rp_pack_component *p) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < p->n; i++)
        total += rp_pack_length(&p->items[i]);
    return p->n <= MAX_ITEMS && total <= MAX_TOTAL_LENGTH;
}

/* Every second attempt has a goal between the best and the one asked for, nearer to the
 * best after each failure. A component that cannot reach the goal, or not in time, still
 * gets lower that way. */
static uint64_t next_goal(const struct rp_pack_component *p, uint64_t goal) {
    return p->n_attempts % 2 == 0 ? rp_pack_reachable(p, goal)
                                  : rp_pack_next_step(p, goal, p->n_failed_attempts);
}

static void run_attempt(struct rp_pack_branch_bound *q, struct rp_pack_component *p,
                        uint64_t goal) {
    uint32_t turn = p->n_attempts / 6; /* two goals; by failures twice, by slack once */
    uint64_t attempt_goal = next_goal(p, goal);
    q->choose_by = p->n_attempts / 2 % 3 < 2 ? BY_FAILURES : BY_SLACK;
    set_rank(q, (enum order)(turn % N_ORDERS), turn < N_ORDERS ? NULL : &p->random);
    struct rp_pack_work *work = q->state.work;
    uint64_t before = work->done;
    enum outcome outcome = attempt(q, attempt_goal, luby(turn + 1) * (200 + 2 * p->n));
    work->statistics.branch_bound_attempts++;
    work->statistics.branch_bound_nodes += q->n_nodes;
    work->statistics.branch_bound_work += work->done - before;
    p->n_attempts++;
    p->n_failed_attempts = outcome == STOPPED ? p->n_failed_attempts + 1 : 1;
    if (outcome == FOUND)
        rp_pack_record_placement(p, q->state.offset);
    else if (outcome == INFEASIBLE)
        p->bound = attempt_goal + 1;
}

static struct rp_pack_branch_bound *branch_bound_new(const struct rp_pack_component *p,
                                                     struct rp_pack_work *work) {
    struct rp_pack_branch_bound *q = rp_calloc(1, sizeof *q);
    rp_partial_init(&q->state, p, work);
    q->rank = rp_calloc(p->n, sizeof *q->rank);
    q->picks = rp_calloc(p->n_sections, sizeof *q->picks);
    q->change = rp_calloc(p->n_sections + 1, sizeof *q->change);
    return q;
}

void rp_pack_branch_bound_free(struct rp_pack_branch_bound *q) {
    if (q == NULL)
        return;
    rp_partial_fini(&q->state);
    free(q->rank);
    free(q->picks);
    free(q->change);
    free(q->branches.at);
    free(q);
}

void rp_pack_branch_bound(struct rp_pack_component *p, uint64_t goal,
                          struct rp_pack_work *work) {
    if (p->branch_bound == NULL && !is_small_enough(p))
        return;
    if (p->branch_bound == NULL)
        p->branch_bound = branch_bound_new(p, work);
    while (p->height > rp_pack_reachable(p, goal) && !rp_pack_ended(work))
        run_attempt(p->branch_bound, p, goal);
}
