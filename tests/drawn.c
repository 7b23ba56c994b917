#include "drawn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "policies.h"
#include "run.h"

const struct rp_drawn_op rp_long_chain[12] = {
    {"f1", "relu", "s", "a", 10, 10}, {"f2", "relu", "a", "b", 10, 10},
    {"f3", "relu", "b", "c", 10, 10}, {"f4", "relu", "c", "d", 10, 10},
    {"f5", "relu", "d", "e", 10, 10}, {"f6", "relu", "e", "f", 10, 10},
    {"b6", "relu", "ef", "u", 1, 20}, {"b5", "relu", "du", "v", 1, 20},
    {"b4", "relu", "cv", "x", 1, 20}, {"b3", "relu", "bx", "y", 1, 20},
    {"b2", "relu", "ay", "z", 1, 20}, {"b1", "relu", "sz", "w", 1, 20},
};

const struct rp_drawn_op rp_skip[10] = {
    {"f1", "relu", "s", "a", 10, 10},  {"f2", "relu", "a", "b", 10, 10},
    {"f3", "relu", "b", "c", 10, 10},  {"f4", "relu", "c", "d", 10, 10},
    {"f5", "relu", "ad", "e", 10, 10}, {"b5", "relu", "ade", "u", 1, 20},
    {"b4", "relu", "cu", "v", 1, 20},  {"b3", "relu", "bv", "x", 1, 20},
    {"b2", "relu", "ax", "y", 1, 20},  {"b1", "relu", "sy", "w", 1, 20},
};

enum { SAMPLE_BYTES = 1 };

static void put_ids(FILE *f, const char *names, const char *all) {
    for (const char *c = names; *c != '\0'; c++)
        fprintf(f, "%s%d", c == names ? "" : ",", (int)(strchr(all, *c) - all));
}

static void put_op(FILE *f, const struct rp_drawn_op *op, const char *all) {
    fprintf(
        f,
        "{\"name\":\"%s\",\"kind\":\"%s\",\"phase\":\"%s\",\"time_ns\":%d,\"recompute\":%s",
        op->name, op->kind, op->name[0] == 'f' ? "forward" : "backward", (int)op->time_ns,
        op->once ? "false" : "true");
    fputs(",\"inputs\":[", f);
    put_ids(f, op->reads, all);
    fputs("],\"outputs\":[", f);
    put_ids(f, op->makes, all);
    fputs("]}", f);
}

void rp_draw(const struct rp_drawn_op *ops, size_t n, struct rp_graph *g) {
    char *text, all[64] = "s";
    size_t len, n_all = 1;
    struct rp_err err = {{0}};
    FILE *f = rp_text_open(&text, &len);
    fprintf(f,
            "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"drawn\","
            "\"time_source\":\"by hand\",\"device\":{\"alignment_bytes\":1,"
            "\"h2d_bytes_per_s\":1000000000,\"d2h_bytes_per_s\":1000000000},"
            "\"tensors\":[{\"name\":\"s\",\"bytes\":%d,\"kind\":\"input\"}",
            SAMPLE_BYTES);
    for (size_t i = 0; i < n; i++) {
        for (const char *c = ops[i].reads; *c != '\0'; c++)
            if (*c >= 'A' && *c <= 'Z' && strchr(all, *c) == NULL) {
                all[n_all++] = *c;
                fprintf(f, ",{\"name\":\"%c\",\"bytes\":1,\"kind\":\"parameter\"}", *c);
            }
        for (const char *c = ops[i].makes; *c != '\0'; c++) {
            all[n_all++] = *c;
            fprintf(f, ",{\"name\":\"%c\",\"bytes\":%d,\"kind\":\"activation\"}", *c,
                    (int)ops[i].bytes);
        }
    }
    fputs("],\"ops\":[", f);
    for (size_t i = 0; i < n; i++) {
        fputs(i == 0 ? "" : ",", f);
        put_op(f, &ops[i], all);
    }
    fprintf(f, "],\"keep\":[%zu]}", n_all - 1);
    rp_text_close(f);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, len, "drawn", g, &err), RP_OK);
    free(text);
}

/* ---- reading a plan ---- */

struct rp_policy_options rp_drawn_options(uint64_t bytes) {
    struct rp_policy_options o;
    rp_policy_options_init(&o);
    o.addressed = false;
    o.budget_bytes = bytes;
    return o;
}

void rp_drawn_check(const struct rp_graph *g, const char *policy,
                    struct rp_policy_options o, const char *expected) {
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_verdict v;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(
        rp_policy_plan(g, rp_policy_find(policy), &o, &plan, &report, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_verify(g, &plan, &v, &err), RP_OK);
    char *steps = rp_steps_text(g, &plan);
    CU_ASSERT_STRING_EQUAL(steps, expected);
    if (strcmp(steps, expected) != 0)
        printf("\n%s, %d: peak %d of %d, time %d\n  %s\n  %s\n", policy, (int)report.fits,
               (int)v.peak_bytes, (int)o.budget_bytes, (int)v.time_ns, steps, expected);
    free(steps);
    rp_plan_fini(&plan);
}

void rp_drawn_check_rows(const struct rp_schedule *s, uint32_t x, const char *expected) {
    char rows[64] = "";
    for (uint32_t t = 0; t <= s->n_stages; t++)
        rows[t] = rp_held(s, t, x) ? '#' : rp_swapped_in(s, t, x) ? '<' : '.';
    CU_ASSERT_STRING_EQUAL(rows, expected);
    if (strcmp(rows, expected) != 0)
        printf("tensor %" PRIu32 ": %s, expected %s\n", x, rows, expected);
}

void rp_drawn_check_all(const struct rp_drawn_op *ops, size_t n_ops,
                        const struct rp_drawn_plan *plans, size_t n) {
    struct rp_graph g;
    rp_draw(ops, n_ops, &g);
    for (size_t i = 0; i < n; i++)
        rp_drawn_check(&g, plans[i].policy, rp_drawn_options(plans[i].budget),
                       plans[i].steps);
    rp_graph_fini(&g);
}
