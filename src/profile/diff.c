#include "profile/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/join/names.h"

static rp_rc match_ops(const struct rp_graph *a, const char *a_file,
                       const struct rp_graph *b, const char *b_file, uint32_t *op_of_b,
                       struct rp_err *err) {
    struct rp_op_index in_a = {0}, in_b = {0};
    rp_rc rc = rp_op_index_build(a, a_file, &in_a, err);
    if (rc == RP_OK)
        rc = rp_op_index_build(b, b_file, &in_b, err);
    for (uint32_t i = 0; i < a->n_ops && rc == RP_OK; i++) {
        const struct rp_op *op = &a->ops[i];
        uint32_t k = op_of_b[i] = rp_op_index_find(&in_b, op->name);
        if (k == RP_NONE)
            rc = rp_fail(err, RP_INPUT, "%s: has no op '%.80s', which %s has", b_file,
                         op->name, a_file);
        else if (strcmp(op->kind, b->ops[k].kind) != 0)
            rc =
                rp_fail(err, RP_INPUT, "%s: op '%.80s' has kind '%.80s', but '%.80s' in %s",
                        b_file, op->name, b->ops[k].kind, op->kind, a_file);
    }
    for (uint32_t k = 0; k < b->n_ops && rc == RP_OK; k++)
        if (rp_op_index_find(&in_a, b->ops[k].name) == RP_NONE)
            rc = rp_fail(err, RP_INPUT, "%s: has no op '%.80s', which %s has", a_file,
                         b->ops[k].name, b_file);
    rp_op_index_fini(&in_a);
    rp_op_index_fini(&in_b);
    return rc;
}

/* No sum overflows: a_ns and b_ns stay below 2^63 as in the graphs, and off_ns is at most
 * their sum. */
static void add_op(struct rp_kind_diff *d, uint32_t op, uint64_t a_ns, uint64_t b_ns) {
    uint64_t off = a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
    if (d->n_ops == 0 || off > d->worst_ns) {
        d->worst = op;
        d->worst_ns = off;
    }
    d->n_ops++;
    d->a_ns += a_ns;
    d->b_ns += b_ns;
    d->off_ns += off;
}

static struct rp_kind_diff *of_kind(struct rp_profile_diff *d, const char *kind) {
    for (uint32_t i = 0; i < d->n_kinds; i++)
        if (strcmp(d->kinds[i].kind, kind) == 0)
            return &d->kinds[i];
    d->kinds = rp_realloc(d->kinds, d->n_kinds + 1, sizeof *d->kinds);
    d->kinds[d->n_kinds] = (struct rp_kind_diff){.kind = kind};
    return &d->kinds[d->n_kinds++];
}

static int by_off(const void *x, const void *y) {
    const struct rp_kind_diff *a = x, *b = y;
    if (a->off_ns != b->off_ns)
        return a->off_ns > b->off_ns ? -1 : 1;
    return strcmp(a->kind, b->kind);
}

rp_rc rp_profile_diff_build(const struct rp_graph *a, const char *a_file,
                            const struct rp_graph *b, const char *b_file,
                            struct rp_profile_diff *d, struct rp_err *err) {
    *d = (struct rp_profile_diff){.op_of_b = rp_calloc((size_t)a->n_ops + 1, 4)};
    rp_rc rc = match_ops(a, a_file, b, b_file, d->op_of_b, err);
    for (uint32_t i = 0; i < a->n_ops && rc == RP_OK; i++) {
        uint64_t b_ns = b->ops[d->op_of_b[i]].time_ns;
        add_op(of_kind(d, a->ops[i].kind), i, a->ops[i].time_ns, b_ns);
        add_op(&d->all, i, a->ops[i].time_ns, b_ns);
    }
    if (d->n_kinds > 1)
        qsort(d->kinds, d->n_kinds, sizeof *d->kinds, by_off);
    if (rc != RP_OK)
        rp_profile_diff_fini(d);
    return rc;
}

void rp_profile_diff_fini(struct rp_profile_diff *d) {
    free(d->kinds);
    free(d->op_of_b);
    *d = (struct rp_profile_diff){0};
}
