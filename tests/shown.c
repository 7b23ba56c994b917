#include "shown.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"

/* w -a-> x -b-> y -c-> u   x,y -d-> z. */
static const char net[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"net\",\"time_source\":\"imported:"
    "test\",\"device\":{\"alignment_bytes\":1,\"h2d_bytes_per_s\":1000000000,"
    "\"d2h_bytes_per_s\":500000000,\"copy_latency_ns\":10},\"tensors\":["
    "{\"name\":\"w\",\"bytes\":8,\"kind\":\"parameter\"},"
    "{\"name\":\"x\",\"bytes\":40,\"kind\":\"activation\"},"
    "{\"name\":\"y\",\"bytes\":16,\"kind\":\"activation\"},"
    "{\"name\":\"u\",\"bytes\":4,\"kind\":\"activation\"},"
    "{\"name\":\"z\",\"bytes\":8,\"kind\":\"gradient\"}],\"ops\":["
    "{\"name\":\"%s\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":10,"
    "\"phase\":\"forward\"},"
    "{\"name\":\"b\",\"kind\":\"k\",\"inputs\":[1],\"outputs\":[2],\"time_ns\":60,"
    "\"workspace_bytes\":24,\"phase\":\"forward\"},"
    "{\"name\":\"c\",\"kind\":\"k\",\"inputs\":[2],\"outputs\":[3],\"time_ns\":30,"
    "\"workspace_bytes\":60},"
    "{\"name\":\"d\",\"kind\":\"k\",\"inputs\":[1,2],\"outputs\":[4],\"time_ns\":20,"
    "\"phase\":\"backward\"}],\"keep\":[4]}";

const struct rp_step rp_again[RP_N_AGAIN] = {
    {.kind = RP_RUN, .id = 0}, {.kind = RP_RUN, .id = 1},  {.kind = RP_FREE, .id = 1},
    {.kind = RP_RUN, .id = 2}, {.kind = RP_FREE, .id = 3}, {.kind = RP_RUN, .id = 0},
    {.kind = RP_RUN, .id = 3}, {.kind = RP_FREE, .id = 1}, {.kind = RP_FREE, .id = 2},
};
const struct rp_step rp_swapped[RP_N_SWAPPED] = {
    {.kind = RP_RUN, .id = 0},  {.kind = RP_SWAP_OUT, .id = 1}, {.kind = RP_RUN, .id = 1},
    {.kind = RP_FREE, .id = 1}, {.kind = RP_SWAP_IN, .id = 1},  {.kind = RP_RUN, .id = 2},
    {.kind = RP_RUN, .id = 3},
};

void rp_shown_open(struct rp_shown *s, const char *first_op, const struct rp_step *steps,
                   size_t n) {
    struct rp_err err = {{0}};
    *s = (struct rp_shown){0};
    char *text = rp_format(net, first_op);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, strlen(text), "net", &s->g, &err), RP_OK);
    free(text);
    s->p.budget_bytes = 96;
    s->p.claims.lower_bound_ns = 125;
    s->p.claims.proof = RP_PROOF_BOUNDED;
    s->p.claims.bound_for = rp_bound_for_all_plans;
    for (size_t i = 0; i < n; i++)
        rp_push(&s->p.steps, steps[i]);
    rp_report_build(&s->g, &s->p, &s->r);
}

void rp_shown_close(struct rp_shown *s) {
    rp_report_fini(&s->r);
    rp_plan_fini(&s->p);
    rp_graph_fini(&s->g);
}

char *rp_shown_text(void (*put)(const struct rp_report *, FILE *),
                    const struct rp_shown *s) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    put(&s->r, f);
    rp_text_close(f);
    return text;
}

void rp_shown_expect(void (*put)(const struct rp_report *, FILE *),
                     const struct rp_shown *s, const char *want) {
    char *text = rp_shown_text(put, s);
    CU_ASSERT_STRING_EQUAL(text, want);
    if (strcmp(text, want) != 0)
        printf("got:\n%s\nwanted:\n%s\n", text, want);
    free(text);
}
