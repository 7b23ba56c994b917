/* run_ops: runs every op of a graph once with its reference kernel, for tests that are not
 * written in C.
 *
 *     run_ops GRAPH      standard input: the bytes of each source, in the order of tensors
 *                        standard output: the bytes of each op's outputs, then of what it
 *                        updates
 *     run_ops --kinds    the op kinds that have a kernel, one a line
 *
 * Exit code 0, or 1 with one line on standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/kernel.h"
#include "kernels/op_table.h"

static rp_rc read_sources(const struct rp_graph *g, void **at, struct rp_err *err) {
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].producer == RP_NONE &&
            fread(at[x], 1, g->tensors[x].bytes, stdin) != g->tensors[x].bytes)
            return rp_fail(err, RP_INPUT, "standard input ends within \"%s\"",
                           g->tensors[x].name);
    return getchar() == EOF ? RP_OK : rp_fail(err, RP_INPUT, "standard input is too long");
}

/* The places of n tensors, then of those that the op updates. */
static void **operands(const struct rp_op *op, const uint32_t *list, uint32_t n,
                       void **at) {
    void **all = rp_calloc((size_t)n + op->n_updates, sizeof *all);
    for (uint32_t i = 0; i < n + op->n_updates; i++)
        all[i] = at[i < n ? list[i] : op->updates[i - n]];
    return all;
}

static void write_tensors(const struct rp_graph *g, const uint32_t *list, uint32_t n,
                          void **at) {
    for (uint32_t i = 0; i < n; i++)
        fwrite(at[list[i]], 1, g->tensors[list[i]].bytes, stdout);
}

static rp_rc run_op(const struct rp_graph *g, uint32_t i, void **at, struct rp_err *err) {
    const struct rp_op *op = &g->ops[i];
    struct rp_kernel k;
    const rp_rc rc = rp_kernel_bind(g, i, RP_BIND_GRAPH, g->name, &k, err);
    if (rc != RP_OK)
        return rc;
    void **in = operands(op, op->inputs, op->n_inputs, at);
    void **out = operands(op, op->outputs, op->n_outputs, at);
    rp_kernel_run(&k, (const void *const *)in, out);
    write_tensors(g, op->outputs, op->n_outputs, at);
    write_tensors(g, op->updates, op->n_updates, at);
    free(in);
    free(out);
    rp_kernel_fini(&k);
    return RP_OK;
}

static rp_rc run_all(const char *path, struct rp_err *err) {
    struct rp_graph g;
    rp_rc rc = rp_graph_load(path, &g, err);
    if (rc != RP_OK)
        return rc;
    void **at = rp_calloc(g.n_tensors, sizeof *at);
    for (uint32_t x = 0; x < g.n_tensors; x++)
        at[x] = rp_calloc(g.tensors[x].bytes, 1);
    rc = read_sources(&g, at, err);
    for (uint32_t i = 0; i < g.n_ops && rc == RP_OK; i++)
        rc = run_op(&g, i, at, err);
    for (uint32_t x = 0; x < g.n_tensors; x++)
        free(at[x]);
    free(at);
    rp_graph_fini(&g);
    return rc;
}

int main(int argc, char **argv) {
    struct rp_err err = {{0}};
    if (argc != 2) {
        fputs("usage: run_ops GRAPH | --kinds\n", stderr);
        return 1;
    }
    if (strcmp(argv[1], "--kinds") == 0) {
        for (size_t i = 0; i < rp_n_op_kinds; i++)
            puts(rp_op_kinds[i].kind);
        return 0;
    }
    if (run_all(argv[1], &err) == RP_OK && fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "run_ops: %s\n", err.msg);
    return 1;
}
