#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "model/zoo/zoo.h"
#include "run.h"

static struct rp_zoo_options defaults(void) {
    struct rp_zoo_options o;
    rp_zoo_options_init(&o);
    return o;
}

static rp_rc build(const char *name, struct rp_zoo_options o, struct rp_graph *g,
                   struct rp_err *err) {
    *err = (struct rp_err){{0}};
    rp_rc rc = rp_zoo_build(name, &o, g, err);
    if (rc != RP_OK)
        CU_ASSERT_STRING_NOT_EQUAL(err->msg, "");
    return rc;
}

static void parameter_counts_and_multiply_adds_are_the_published_ones(void) {
    for (size_t i = 0; i < rp_zoo_n_rows; i++) {
        const struct rp_zoo_row *row = &rp_zoo_rows[i];
        struct rp_zoo_options o = defaults();
        struct rp_graph g;
        struct rp_err err;
        o.batch = 1;
        CU_ASSERT_EQUAL_FATAL(build(row->name, o, &g, &err), RP_OK);
        if (row->params != 0)
            CU_ASSERT_EQUAL(rp_zoo_n_params(&g), row->params);
        rp_graph_fini(&g);
        o.no_aux = (row->takes & RP_TAKES_NO_AUX) != 0;
        CU_ASSERT_EQUAL_FATAL(build(row->name, o, &g, &err), RP_OK);
        if (row->macs != 0)
            CU_ASSERT_TRUE(fabs((double)rp_zoo_macs(&g) / row->macs - 1) < 0.02);
        rp_graph_fini(&g);
    }
}

void suite_zoo(void) {
    RP_SUITE("zoo");
    RP_TEST(parameter_counts_and_multiply_adds_are_the_published_ones);
}
