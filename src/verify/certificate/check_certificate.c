#include "verify/certificate/check_certificate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "verify/certificate/check_copy.h"
#include "verify/certificate/check_cover.h"
#include "verify/certificate/host_capacity.h"
#include "verify/certificate/lp_variables.h"

struct check {
    const struct rp_certificate *c;
    const struct rp_graph *g;
    struct rp_err *err;
    struct rp_lp_variables vars;
    struct rp_host_capacity host; /* with swaps */
    uint64_t fixed_bytes;         /* of the sources that no plan can move off the device */
    struct rp_cover_check *cover; /* not NULL: gets the terms of the memory row */
    uint32_t *order;              /* per position: its op */
    uint32_t *seen;               /* per tensor: 1 + the last memory row that has it */
    __int128 total;               /* sum of multiplier * right side */
    /* Per stage: the row sums of E and of W. */
    __int128 *extra_sum, *wait_sum;
    bool in_order; /* a row needs the runs of a stage to be in order */
    bool overflow; /* a sum passed 127 bits */
    const struct rp_certificate_row *row; /* the one being derived */
};

static const char *const kind_name[] = {"dep",   "hold",  "mem", "window",
                                        "cover", "extra", "copy"};

__attribute__((format(printf, 2, 3))) static rp_rc refuse(struct check *k, const char *fmt,
                                                          ...) {
    char text[sizeof k->err->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return rp_fail(k->err, RP_NO, "%s[%u]: %s", kind_name[k->row->kind], k->row->item,
                   text);
}

/* ---- the indices in a row ---- */

static rp_rc check_stage(struct check *k, uint32_t t) {
    if (t >= k->vars.n_stages)
        return refuse(k, "no stage %u", t);
    return RP_OK;
}

static rp_rc check_op(struct check *k, uint32_t j, uint32_t t) {
    if (j >= k->g->n_ops)
        return refuse(k, "no op %u", j);
    if (k->vars.stage[j] > t)
        return refuse(k, "op %u first runs after stage %u", j, t);
    return RP_OK;
}

static rp_rc check_tensor(struct check *k, uint32_t x) {
    if (x >= k->g->n_tensors)
        return refuse(k, "no tensor %u", x);
    if (k->g->tensors[x].producer == RP_NONE)
        return refuse(k, "tensor %u is a source", x);
    return RP_OK;
}

static rp_rc check_reads(struct check *k, uint32_t j, uint32_t x) {
    const struct rp_op *op = &k->g->ops[j];
    for (uint32_t i = 0; i < op->n_inputs; i++)
        if (op->inputs[i] == x)
            return RP_OK;
    return refuse(k, "op %u does not read tensor %u", j, x);
}

static uint32_t maker(const struct check *k, uint32_t x) {
    return k->g->tensors[x].producer;
}

/* ---- adding multiplier * coefficient ---- */

static void add_to_cover(struct check *k, uint64_t key, __int128 weight) {
    if (key == RP_VARIABLE_ONE)
        k->cover->capacity -= weight;
    else if (key != RP_VARIABLE_ZERO)
        rp_cover_check_add(k->cover, key, weight, 0);
}

static void add_run(struct check *k, uint32_t t, uint32_t j, __int128 coef) {
    if (k->cover != NULL) {
        add_to_cover(k, rp_lp_variables_run_key(&k->vars, t, j), coef);
        return;
    }
    __int128 amount = coef * k->row->multiplier; /* two factors of 63 bits at most */
    k->overflow |= !rp_lp_variables_add_run(&k->vars, t, j, amount);
}

static void add_hold(struct check *k, uint32_t t, uint32_t x, __int128 coef) {
    if (k->cover != NULL) {
        add_to_cover(k, rp_lp_variables_hold_key(&k->vars, t, x), coef);
        return;
    }
    __int128 amount = coef * k->row->multiplier;
    k->overflow |= !rp_lp_variables_add_hold(&k->vars, t, x, amount);
}

/* ---- the kinds of row ---- */

/* R[t][j] <= R[t][maker of x] + S[t][x] */
static rp_rc derive_dep(struct check *k) {
    const struct rp_certificate_row *r = k->row;
    rp_rc rc = check_stage(k, r->t);
    if (rc == RP_OK)
        rc = check_op(k, r->op, r->t);
    if (rc == RP_OK)
        rc = check_tensor(k, r->tensor);
    if (rc == RP_OK)
        rc = check_reads(k, r->op, r->tensor);
    if (rc != RP_OK)
        return rc;
    add_run(k, r->t, r->op, 1);
    add_run(k, r->t, maker(k, r->tensor), -1);
    add_hold(k, r->t, r->tensor, -1);
    return RP_OK;
}

/* S[t+1][x] <= S[t][x] + R[t][maker of x] */
static rp_rc derive_hold(struct check *k) {
    const struct rp_certificate_row *r = k->row;
    rp_rc rc = check_stage(k, r->t);
    if (rc == RP_OK)
        rc = check_tensor(k, r->tensor);
    if (rc == RP_OK)
        rc = check_op(k, maker(k, r->tensor), r->t);
    if (rc != RP_OK)
        return rc;
    add_hold(k, r->t + 1, r->tensor, 1);
    add_hold(k, r->t, r->tensor, -1);
    add_run(k, r->t, maker(k, r->tensor), -1);
    return RP_OK;
}

/* May S[t][x] stand for x while op k runs? Not if an op before k may read x in the stage:
 * x may be freed after that. */
static rp_rc check_now(struct check *k, uint32_t x) {
    const struct rp_graph *g = k->g;
    const uint32_t *position = k->vars.position;
    for (uint32_t i = g->reader_start[x]; i < g->reader_start[x + 1]; i++) {
        uint32_t r = g->readers[i];
        if (position[r] < position[k->row->op] &&
            rp_lp_variables_may_run(&k->vars, k->row->t, r))
            return refuse(k, "tensor %u may be gone: op %u may read it before", x, r);
    }
    return RP_OK;
}

/* May R[t][r] stand for x while op k runs? Only if k makes x, or if r reads x and runs no
 * earlier than k. */
static rp_rc check_run_term(struct check *k, uint32_t x, uint32_t r) {
    const uint32_t *position = k->vars.position;
    rp_rc rc = check_op(k, r, k->row->t);
    if (rc != RP_OK || (r == k->row->op && maker(k, x) == r))
        return rc;
    rc = check_reads(k, r, x);
    if (rc == RP_OK && position[r] < position[k->row->op])
        return refuse(k, "op %u reads tensor %u before op %u runs", r, x, k->row->op);
    return rc;
}

static uint64_t size_of(const struct check *k, uint64_t bytes) {
    return k->c->addressed ? rp_round_up(bytes, k->g->device.alignment_bytes) : bytes;
}

static rp_rc derive_term(struct check *k, uint32_t x, uint32_t term) {
    const struct rp_certificate_row *r = k->row;
    rp_rc rc = check_tensor(k, x);
    if (rc != RP_OK)
        return rc;
    uint32_t number = (uint32_t)(r - k->c->rows.at) + 1;
    if (k->seen[x] == number)
        return refuse(k, "two terms for tensor %u", x);
    k->seen[x] = number;
    if (term != RP_CERTIFICATE_NOW &&
        k->vars.position[maker(k, x)] > k->vars.position[r->op])
        return refuse(k, "tensor %u is not made when op %u runs", x, r->op);
    __int128 size = size_of(k, k->g->tensors[x].bytes);
    if (term == RP_CERTIFICATE_NEXT) {
        add_hold(k, r->t + 1, x, size);
    } else if (term == RP_CERTIFICATE_NOW) {
        rc = check_now(k, x);
        add_hold(k, r->t, x, size);
    } else {
        rc = check_run_term(k, x, term);
        if (rc == RP_OK)
            add_run(k, r->t, term, size);
    }
    return rc;
}

static bool ends_stage(const struct check *k, uint32_t j, uint32_t t) {
    return k->vars.position[j] == k->vars.last_position[t];
}

static rp_rc derive_terms(struct check *k) {
    const struct rp_certificate_row *r = k->row;
    rp_rc rc = check_stage(k, r->t);
    if (rc == RP_OK)
        rc = check_op(k, r->op, r->t);
    if (rc == RP_OK && k->c->stages.n > 0 && !ends_stage(k, r->op, r->t))
        return refuse(k, "op %u does not end stage %u", r->op, r->t);
    for (size_t i = 0; i < r->n_ids && rc == RP_OK; i += 2)
        rc = derive_term(k, k->c->ids.at[r->first_id + i],
                         k->c->ids.at[r->first_id + i + 1]);
    if (rc != RP_OK)
        return rc;
    add_run(k, r->t, r->op, size_of(k, k->g->ops[r->op].workspace_bytes));
    k->in_order |= !ends_stage(k, r->op, r->t);
    return RP_OK;
}

/* The right side of a memory row. With swaps, what is on the host alone counts too, so the
 * limit grows by as much as can be there. */
static __int128 limit_of(const struct check *k) {
    const struct rp_certificate_row *r = k->row;
    __int128 limit = k->c->budget_bytes - k->fixed_bytes;
    if (k->c->swaps)
        limit += rp_host_capacity_max_bytes(&k->host, r->t, ends_stage(k, r->op, r->t));
    return limit;
}

/* sum of bytes[x] * (its term) + workspace[k] * R[t][k] <= budget - sources */
static rp_rc derive_mem(struct check *k) {
    rp_rc rc = derive_terms(k);
    if (rc == RP_OK)
        k->overflow |=
            __builtin_add_overflow(k->total, limit_of(k) * k->row->multiplier, &k->total);
    return rc;
}

/* The left side of a cover: each variable with its count. */
static rp_rc derive_counts(struct check *k, struct rp_cover_check *cover) {
    const struct rp_certificate_row *r = k->row;
    for (size_t i = 0; i < r->n_held + r->n_ran; i++) {
        const uint32_t *at = k->c->ids.at + r->first_count + 3 * i;
        bool held = i < r->n_held;
        rp_rc rc = held            ? check_tensor(k, at[0])
                   : at[1] != r->t ? refuse(k, "counts a run of stage %u", at[1])
                                   : check_op(k, at[0], r->t);
        if (rc != RP_OK)
            return rc;
        uint64_t key = held ? rp_lp_variables_hold_key(&k->vars, at[1], at[0])
                            : rp_lp_variables_run_key(&k->vars, at[1], at[0]);
        if (key == RP_VARIABLE_ONE || key == RP_VARIABLE_ZERO)
            return refuse(k, "%s %u in stage %u is no quantity", held ? "tensor" : "op",
                          at[0], at[1]);
        rp_cover_check_add(cover, key, 0, at[2]);
        (held ? add_hold : add_run)(k, at[1], at[0], at[2]);
    }
    return RP_OK;
}

/* sum of count * variable <= max_count: valid if every choice of variables that meets the
 * memory row meets it too */
static rp_rc derive_cover(struct check *k) {
    struct rp_cover_check cover = {0};
    k->cover = &cover;
    rp_rc rc = derive_terms(k);
    k->cover = NULL;
    if (rc == RP_OK) {
        cover.capacity += limit_of(k);
        rc = derive_counts(k, &cover);
    }
    if (rc == RP_OK && !rp_cover_check_holds(&cover, k->row->max_count))
        rc = refuse(k, "what fits may count more than %" PRIu64, k->row->max_count);
    if (rc == RP_OK)
        k->overflow |= __builtin_add_overflow(
            k->total, (__int128)k->row->max_count * k->row->multiplier, &k->total);
    free(cover.at);
    return rc;
}

/* W <= sum of S[from][y] over the path + sum of R[s][maker of the last y] over
 * from <= s <= t, where W is S[t+1] of the first y, or R[t] of a reader of that. */
static rp_rc derive_window(struct check *k) {
    const struct rp_certificate_row *r = k->row;
    const uint32_t *path = k->c->ids.at + r->first_id;
    rp_rc rc = check_stage(k, r->t);
    if (rc == RP_OK && r->from > r->t)
        return refuse(k, "stage %u is after stage %u", r->from, r->t);
    for (size_t i = 0; i < r->n_ids && rc == RP_OK; i++) {
        rc = check_tensor(k, path[i]);
        if (rc == RP_OK && i > 0)
            rc = check_reads(k, maker(k, path[i - 1]), path[i]);
    }
    if (rc == RP_OK && r->op != RP_NONE)
        rc = check_op(k, r->op, r->t);
    if (rc == RP_OK && r->op != RP_NONE)
        rc = check_reads(k, r->op, path[0]);
    if (rc != RP_OK)
        return rc;
    if (r->op != RP_NONE)
        add_run(k, r->t, r->op, 1);
    else
        add_hold(k, r->t + 1, path[0], 1);
    for (size_t i = 0; i < r->n_ids; i++)
        add_hold(k, r->from, path[i], -1);
    for (uint32_t s = r->from; s <= r->t; s++)
        add_run(k, s, maker(k, path[r->n_ids - 1]), -1);
    return RP_OK;
}

static void add_to_stage(struct check *k, __int128 *sum, int sign) {
    k->overflow |= __builtin_add_overflow(*sum, sign * (__int128)k->row->multiplier, sum);
}

/* E[t] <= W[t] + sum of time[j] R[t][j] over ops whose first run is in an earlier stage */
static rp_rc derive_extra(struct check *k) {
    const struct rp_certificate_row *r = k->row;
    rp_rc rc = check_stage(k, r->t);
    if (rc == RP_OK && !k->c->swaps)
        return refuse(k, "the certificate has no swaps");
    if (rc != RP_OK)
        return rc;
    add_to_stage(k, &k->extra_sum[r->t], 1);
    add_to_stage(k, &k->wait_sum[r->t], -1);
    for (uint32_t j = 0; j < k->g->n_ops; j++)
        if (k->vars.stage[j] < r->t)
            add_run(k, r->t, j, -(__int128)k->g->ops[j].time_ns);
    return RP_OK;
}

/* The op where the interval of a copy row ends or begins. */
static rp_rc check_interval(struct check *k) {
    const struct rp_certificate_row *r = k->row;
    if (r->op >= k->g->n_ops)
        return refuse(k, "no op %u", r->op);
    uint32_t position = k->vars.position[r->op], moment = k->vars.last_position[r->t];
    if (r->in && position <= moment)
        return refuse(k, "op %u first runs no later than stage %u ends", r->op, r->t);
    if (!r->in && position >= moment)
        return refuse(k, "op %u first runs no earlier than stage %u ends", r->op, r->t);
    return RP_OK;
}

/* Marks the tensors that are turned. Their copies take *ns together. */
static rp_rc derive_turned(struct check *k, const struct rp_copy_row *copy, __int128 *ns) {
    const struct rp_certificate_row *r = k->row;
    uint32_t number = (uint32_t)(r - k->c->rows.at) + 1;
    for (size_t i = 0; i < r->n_ids; i++) {
        uint32_t x = k->c->ids.at[r->first_id + i];
        rp_rc rc = check_tensor(k, x);
        if (rc != RP_OK)
            return rc;
        if (k->seen[x] == number)
            return refuse(k, "tensor %u is turned twice", x);
        k->seen[x] = number;
        *ns += rp_copy_row_ns(copy, x);
    }
    return RP_OK;
}

/* sum of copy time * S[t+1][x] <= room as time + time of an interval + sum of E, or that
 * row rounded */
static rp_rc derive_copy(struct check *k) {
    const struct rp_certificate_row *r = k->row;
    uint32_t number = (uint32_t)(r - k->c->rows.at) + 1;
    struct rp_copy_row copy;
    __int128 turned_ns = 0, right;
    rp_rc rc = check_stage(k, r->t);
    if (rc == RP_OK && !k->c->swaps)
        return refuse(k, "the certificate has no swaps");
    if (rc == RP_OK)
        rc = check_interval(k);
    if (rc == RP_OK &&
        !rp_copy_row_init(&copy, &k->host, k->c->budget_bytes - k->fixed_bytes, r->in, r->t,
                          r->op))
        return refuse(k, "its right side passes 2^62 ns");
    if (rc == RP_OK)
        rc = derive_turned(k, &copy, &turned_ns);
    if (rc != RP_OK)
        return rc;
    if (r->length_ns > 0)
        rp_copy_row_round(&copy, r->length_ns, turned_ns);
    right = copy.right_ns;
    for (uint32_t x = 0; x < k->g->n_tensors; x++) {
        uint64_t ns = k->g->tensors[x].producer == RP_NONE ? 0 : rp_copy_row_ns(&copy, x);
        bool turned = k->seen[x] == number;
        __int128 coef = ns == 0 ? 0 : rp_copy_row_coefficient(&copy, ns, turned);
        right -= turned ? coef : 0;
        if (coef != 0)
            add_hold(k, r->t + 1, x, turned ? -coef : coef);
    }
    for (uint32_t t = copy.first; t <= copy.last; t++)
        add_to_stage(k, &k->extra_sum[t], -1);
    k->overflow |= __builtin_mul_overflow(right, (__int128)r->multiplier, &right) ||
                   __builtin_add_overflow(k->total, right, &k->total);
    return RP_OK;
}

static rp_rc derive_rows(struct check *k) {
    static rp_rc (*const derive[])(struct check *) = {
        derive_dep,   derive_hold,  derive_mem, derive_window,
        derive_cover, derive_extra, derive_copy};
    for (size_t i = 0; i < k->c->rows.n; i++) {
        k->row = &k->c->rows.at[i];
        rp_rc rc = derive[k->row->kind](k);
        if (rc != RP_OK)
            return rc;
    }
    return RP_OK;
}

/* ---- the whole ---- */

static rp_rc check_header(const struct check *k) {
    const struct rp_certificate *c = k->c;
    const struct rp_graph *g = k->g;
    if (strcmp(c->graph_sha256, g->sha256) != 0)
        return rp_fail(k->err, RP_NO,
                       "it is for \"%.80s\" (sha256 %.12s...), this graph is \"%.80s\" "
                       "(sha256 %.12s...)",
                       c->graph_name, c->graph_sha256, g->name, g->sha256);
    if (strcmp(c->graph_name, g->name) != 0)
        return rp_fail(k->err, RP_NO, "it is for \"%.80s\", not \"%.80s\"", c->graph_name,
                       g->name);
    if (c->budget_bytes < k->fixed_bytes)
        return rp_fail(k->err, RP_NO,
                       "budget_bytes %" PRIu64 " is less than the %" PRIu64
                       " bytes of the sources",
                       c->budget_bytes, k->fixed_bytes);
    return RP_OK;
}

/* The sum cannot overflow: rp_graph_check has checked a larger one. */
static uint64_t bytes_that_stay(const struct rp_graph *g) {
    uint64_t sum = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].producer == RP_NONE && g->tensors[x].home == RP_HOME_DEVICE)
            sum += g->tensors[x].bytes;
    return sum;
}

/* Sets k->order. Each op must be in it once, after those it reads from. */
static rp_rc check_order(struct check *k) {
    const struct rp_graph *g = k->g;
    bool *done = rp_calloc(g->n_ops, sizeof *done);
    rp_rc rc = RP_OK;
    if (k->c->has_order && k->c->order.n != g->n_ops)
        rc = rp_fail(k->err, RP_NO, "order: %zu entries for %u ops", k->c->order.n,
                     g->n_ops);
    for (uint32_t i = 0; i < g->n_ops && rc == RP_OK; i++) {
        uint32_t j = k->order[i] = k->c->has_order ? k->c->order.at[i] : i;
        if (j >= g->n_ops || done[j]) {
            rc = rp_fail(k->err, RP_NO, "order[%u]: op %u %s", i, j,
                         j >= g->n_ops ? "does not exist" : "stands there twice");
            break;
        }
        done[j] = true;
        for (uint32_t a = 0; a < g->ops[j].n_inputs && rc == RP_OK; a++) {
            uint32_t p = g->tensors[g->ops[j].inputs[a]].producer;
            if (p != RP_NONE && !done[p])
                rc = rp_fail(k->err, RP_NO,
                             "order[%u]: op %u comes before op %u, which makes "
                             "what it reads",
                             i, j, p);
        }
    }
    free(done);
    return rc;
}

/* If the file states stages, their ends must ascend and the last one be the last op. */
static rp_rc check_stages(const struct check *k) {
    const uint32_t *ends = k->c->stages.at;
    size_t n = k->c->stages.n;
    for (size_t t = 1; t < n; t++)
        if (ends[t] <= ends[t - 1])
            return rp_fail(k->err, RP_NO, "stages[%zu]: %u is not after %u", t, ends[t],
                           ends[t - 1]);
    if (n > 0 && ends[n - 1] != k->g->n_ops - 1)
        return rp_fail(k->err, RP_NO, "stages: the last one ends with %u, not with %u",
                       ends[n - 1], k->g->n_ops - 1);
    return RP_OK;
}

/* Adds min(0, reduced cost) * most_ns of E and W, which are at most the time that a plan
 * may take longer than its ops. */
static void add_copy_times(struct check *k, __int128 *proved) {
    __int128 slack_ns = k->host.horizon_ns - k->g->total_time_ns;
    for (uint32_t t = 0; t < k->vars.n_stages && k->c->swaps; t++) {
        __int128 wait = k->wait_sum[t] + ((__int128)1 << k->c->scale_log2), product;
        __int128 sum = (k->extra_sum[t] < 0 ? k->extra_sum[t] : 0) + (wait < 0 ? wait : 0);
        k->overflow |= __builtin_mul_overflow(sum, slack_ns, &product) ||
                       __builtin_add_overflow(*proved, product, proved);
    }
}

/* Weak duality: no plan of the class costs less than this, rounded up to whole ns. */
static rp_rc find_bound(struct check *k, struct rp_certified_bound *b) {
    __int128 proved = 0, one = (__int128)1 << k->c->scale_log2;
    k->overflow |= !rp_lp_variables_min_cost(&k->vars, (unsigned)k->c->scale_log2, &proved);
    k->overflow |= __builtin_sub_overflow(proved, k->total, &proved);
    if (!k->overflow)
        add_copy_times(k, &proved);
    if (k->overflow)
        return rp_fail(k->err, RP_NO, "a sum passes 127 bits");
    __int128 rounded_up = proved / one + (proved % one > 0); /* / rounds towards zero */
    b->in_order = k->in_order;
    b->bound_ns = k->g->total_time_ns; /* every op runs */
    if (rounded_up > INT64_MAX)
        b->bound_ns = INT64_MAX;
    else if (rounded_up > (__int128)b->bound_ns)
        b->bound_ns = (uint64_t)rounded_up;
    /* The rows hold only for plans that take at most swap_max_ns. */
    if (k->c->swaps && b->bound_ns > k->c->swap_max_ns)
        b->bound_ns = rp_max_u64(k->c->swap_max_ns, k->g->total_time_ns);
    b->claim_bound_ns = b->bound_ns;
    if (b->bound_ns < k->c->lower_bound_ns)
        return rp_fail(k->err, RP_NO,
                       "lower_bound_ns is %" PRIu64 ", but its rows support %" PRIu64
                       " only",
                       k->c->lower_bound_ns, b->bound_ns);
    return RP_OK;
}

rp_rc rp_certificate_check(const struct rp_certificate *c, const struct rp_graph *g,
                           struct rp_certified_bound *b, struct rp_err *err) {
    struct check k = {.c = c, .g = g, .err = err, .fixed_bytes = bytes_that_stay(g)};
    *b = (struct rp_certified_bound){0};
    rp_rc rc = check_header(&k);
    if (rc != RP_OK)
        return rc;
    k.order = rp_calloc(g->n_ops, sizeof *k.order);
    k.seen = rp_calloc(g->n_tensors, sizeof *k.seen);
    rc = check_order(&k);
    if (rc == RP_OK)
        rc = check_stages(&k);
    if (rc == RP_OK) {
        uint32_t n_stages = c->stages.n > 0 ? (uint32_t)c->stages.n : g->n_ops;
        rp_lp_variables_init(&k.vars, g, k.order, c->stages.at, n_stages);
        k.extra_sum = rp_calloc(n_stages, sizeof *k.extra_sum);
        k.wait_sum = rp_calloc(n_stages, sizeof *k.wait_sum);
        if (c->swaps && !rp_host_capacity_init(&k.host, &k.vars, k.order, c->addressed,
                                               c->swap_max_ns, c->host_budget_bytes))
            rc = rp_fail(err, RP_NO, "swaps: the graph's device does not allow them");
        if (rc == RP_OK)
            rc = derive_rows(&k);
        if (rc == RP_OK)
            rc = find_bound(&k, b);
    }
    rp_lp_variables_fini(&k.vars);
    rp_host_capacity_fini(&k.host);
    free(k.order);
    free(k.seen);
    free(k.extra_sum);
    free(k.wait_sum);
    return rc;
}
