#include "one_op.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/element.h"
#include "run.h"
#include "step.h"

static json_t *parse(const char *text) {
    char *json = rp_strdup(text);
    for (char *p = json; (p = strchr(p, '\'')) != NULL;)
        *p = '"';
    json_error_t error;
    json_t *root = json_loads(json, 0, &error);
    if (root == NULL)
        printf("%s: %s\n", error.text, json);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    free(json);
    return root;
}

static void add_tensors(json_t *operands, const char *kind, json_t *tensors, json_t *ids) {
    size_t i;
    json_t *x;
    json_array_foreach(operands, i, x) {
        const char *dtype = json_string_value(json_array_get(x, 0));
        enum rp_element e = RP_ELEMENT_F32; /* other types: binding must refuse them */
        rp_element_find(dtype, &e);
        json_int_t bytes = (json_int_t)rp_element_bytes(e);
        json_t *shape = json_array_get(x, 1);
        for (size_t d = 0; d < json_array_size(shape); d++)
            bytes *= json_integer_value(json_array_get(shape, d));
        char *name = rp_format("%s%zu", kind, i);
        json_array_append_new(ids, json_integer((json_int_t)json_array_size(tensors)));
        json_array_append_new(tensors, json_pack("{s:s,s:I,s:s,s:s,s:O}", "name", name,
                                                 "bytes", bytes, "kind", kind, "dtype",
                                                 dtype, "shape", shape));
        free(name);
    }
}

struct rp_graph rp_one_op(const char *text) {
    json_t *root = parse(text), *tensors = json_array(), *in = json_array();
    json_t *out = json_array(), *attrs = json_object_get(root, "attrs");
    add_tensors(json_object_get(root, "in"), "input", tensors, in);
    add_tensors(json_object_get(root, "out"), "activation", tensors, out);
    json_t *op = json_pack("{s:s,s:O,s:o,s:o,s:i,s:O}", "name", "op", "kind",
                           json_object_get(root, "kind"), "inputs", in, "outputs", out,
                           "time_ns", 1, "attrs", attrs);
    json_t *graph = json_pack("{s:s,s:i,s:s,s:s,s:o,s:[o],s:[]}", "format", "remat-graph",
                              "version", 1, "name", "one", "time_source", "none", "tensors",
                              tensors, "ops", op, "keep");
    char *dump = json_dumps(graph, 0);
    struct rp_graph g;
    struct rp_err err = {{0}};
    if (rp_graph_parse(dump, strlen(dump), "one", &g, &err) != RP_OK) {
        puts(err.msg);
        CU_FAIL_FATAL("the graph of one op");
    }
    free(dump);
    json_decref(graph);
    json_decref(root);
    return g;
}

/* The elements of the operands, as numbers. */
static double **elements(const struct rp_graph *g, const json_t *operands,
                         const uint32_t *ids) {
    double **all = rp_calloc(json_array_size(operands) + 1, sizeof *all);
    for (size_t i = 0; i < json_array_size(operands); i++) {
        const json_t *list = json_array_get(json_array_get(operands, i), 2);
        const uint64_t n = rp_step_count(g, ids[i]);
        CU_ASSERT_EQUAL_FATAL(json_array_size(list), n);
        all[i] = rp_calloc(n, sizeof **all);
        for (size_t e = 0; e < n; e++)
            all[i][e] = json_number_value(json_array_get(list, e));
    }
    return all;
}

static void free_elements(double **all) {
    for (size_t i = 0; all[i] != NULL; i++)
        free(all[i]);
    free(all);
}

static void compare(const struct rp_graph *g, double **got, double **want,
                    double tolerance) {
    const struct rp_op *op = &g->ops[0];
    for (uint32_t k = 0; k < op->n_outputs; k++)
        for (uint64_t e = 0; e < rp_step_count(g, op->outputs[k]); e++)
            if (!(fabs(got[k][e] - want[k][e]) <= tolerance)) {
                printf("%s: output %u[%d] is %.9g, not %.9g\n", op->kind, k, (int)e,
                       got[k][e], want[k][e]);
                CU_FAIL("another element");
            }
}

void rp_one_op_gives(const char *text, double tolerance) {
    static const enum rp_bind ways[] = {RP_BIND_GRAPH, RP_BIND_F64};
    struct rp_graph g = rp_one_op(text);
    json_t *root = parse(text);
    double **in = elements(&g, json_object_get(root, "in"), g.ops[0].inputs);
    double **want = elements(&g, json_object_get(root, "out"), g.ops[0].outputs);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        double **got = elements(&g, json_object_get(root, "out"), g.ops[0].outputs);
        for (uint32_t k = 0; k < g.ops[0].n_outputs; k++)
            got[k][0] = NAN;
        rp_step_run_apart(&g, 0, ways[i], in, got);
        compare(&g, got, want, tolerance);
        free_elements(got);
    }
    free_elements(in);
    free_elements(want);
    json_decref(root);
    rp_graph_fini(&g);
}
