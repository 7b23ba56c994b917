#include "profile/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/names.h"

static rp_rc match(const struct rp_graph *a, const char *a_file, const struct rp_graph *b,
                   const char *b_file, uint32_t *op_of_b, struct rp_err *err) {
    struct rp_names in_a = {0}, in_b = {0};
    rp_rc rc = rp_names_of_ops(a, a_file, &in_a, err);
    if (rc == RP_OK)
        rc = rp_names_of_ops(b, b_file, &in_b, err);
    for (uint32_t i = 0; i < a->n_ops && rc == RP_OK; i++) {
        const struct rp_op *op = &a->ops[i];
        uint32_t k = op_of_b[i] = rp_names_find(&in_b, op->name);
        if (k == RP_NONE)
            rc = rp_fail(err, RP_INPUT, "%s: has no op '%.80s', which %s has", b_file,
                         op->name, a_file);
        else if (strcmp(op->kind, b->ops[k].kind) != 0)
            rc = rp_fail(err, RP_INPUT, "%s: op '%.80s' is of kind '%.80s', in %s '%.80s'",
                         b_file, op->name, b->ops[k].kind, a_file, op->kind);
    }
    for (uint32_t k = 0; k < b->n_ops && rc == RP_OK; k++)
        if (rp_names_find(&in_a, b->ops[k].name) == RP_NONE)
            rc = rp_fail(err, RP_INPUT, "%s: has no op '%.80s', which %s has", a_file,
                         b->ops[k].name, b_file);
    rp_names_fini(&in_a);
    rp_names_fini(&in_b);
    return rc;
}

/* Sums stay below those of the graphs, so nothing overflows but off_ns. */
static void add(struct rp_kind_difference *d, uint32_t op, uint64_t a_ns, uint64_t b_ns) {
    uint64_t off = a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
    if (d->n_ops == 0 || off > d->worst_ns) {
        d->worst = op;
        d->worst_ns = off;
    }
    d->n_ops++;
    d->a_ns += a_ns;
    d->b_ns += b_ns;
    d->off_ns += off; /* at most the two sums together: below 2^64 */
}

static struct rp_kind_difference *of_kind(struct rp_comparison *c, const char *kind) {
    for (uint32_t i = 0; i < c->n_kinds; i++)
        if (strcmp(c->kinds[i].kind, kind) == 0)
            return &c->kinds[i];
    c->kinds = rp_realloc(c->kinds, c->n_kinds + 1, sizeof *c->kinds);
    c->kinds[c->n_kinds] = (struct rp_kind_difference){.kind = kind};
    return &c->kinds[c->n_kinds++];
}

static int largest_first(const void *x, const void *y) {
    const struct rp_kind_difference *a = x, *b = y;
    if (a->off_ns != b->off_ns)
        return a->off_ns > b->off_ns ? -1 : 1;
    return strcmp(a->kind, b->kind);
}

rp_rc rp_compare(const struct rp_graph *a, const char *a_file, const struct rp_graph *b,
                 const char *b_file, struct rp_comparison *c, struct rp_err *err) {
    *c = (struct rp_comparison){.op_of_b = rp_calloc((size_t)a->n_ops + 1, 4)};
    rp_rc rc = match(a, a_file, b, b_file, c->op_of_b, err);
    for (uint32_t i = 0; i < a->n_ops && rc == RP_OK; i++) {
        uint64_t b_ns = b->ops[c->op_of_b[i]].time_ns;
        add(of_kind(c, a->ops[i].kind), i, a->ops[i].time_ns, b_ns);
        add(&c->all, i, a->ops[i].time_ns, b_ns);
    }
    if (c->n_kinds > 1)
        qsort(c->kinds, c->n_kinds, sizeof *c->kinds, largest_first);
    if (rc != RP_OK)
        rp_comparison_fini(c);
    return rc;
}

void rp_comparison_fini(struct rp_comparison *c) {
    free(c->kinds);
    free(c->op_of_b);
    *c = (struct rp_comparison){0};
}
