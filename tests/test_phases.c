/* Where the backward phase begins, on steps written as a letter for each op. */
#include "policy/phases.h"

#include <string.h>

#include "gen.h"
#include "run.h"

/* A chain of ops with these phases: f, b, u (an update) or a dot. Op i makes
 * bytes[i], which the next op reads. */
static uint32_t forward_ops(const char *phases, const uint64_t *bytes) {
    struct rp_gen_shape shape = {.n_ops = (uint32_t)strlen(phases),
                                 .max_inputs = 1,
                                 .max_outputs = 1,
                                 .reach = 1,
                                 .max_bytes = 1,
                                 .max_time_ns = 1,
                                 .alignment_bytes = 1};
    struct rp_graph g;
    struct rp_instance p;
    rp_gen_graph(1, &shape, &g);
    for (uint32_t i = 0; i < g.n_ops; i++) {
        g.ops[i].phase = phases[i] == 'f'   ? RP_FORWARD
                         : phases[i] == 'b' ? RP_BACKWARD
                         : phases[i] == 'u' ? RP_UPDATE
                                            : RP_PHASE_NONE;
        g.tensors[g.ops[i].outputs[0]].bytes = bytes == NULL ? 1 : bytes[i];
    }
    rp_instance_init(&p, &g, UINT64_MAX / 2, false, NULL);
    uint32_t n = rp_forward_ops(&p);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return n;
}

static void phases_say_where_backward_begins(void) {
    CU_ASSERT_EQUAL(forward_ops("ffbfb", NULL), 2);
    CU_ASSERT_EQUAL(forward_ops("fufbu", NULL), 3);
    /* Without a backward op it is the first update, and without an update the end. */
    CU_ASSERT_EQUAL(forward_ops("ff.uu", NULL), 3);
    CU_ASSERT_EQUAL(forward_ops("ff...", NULL), 5);
}

/* Two neighbours of the chain are live at a time: 3 + 7 after the second op, 2 + 9 after
 * the fifth. */
static void without_phases_the_peak_is_the_border(void) {
    static const uint64_t later[] = {3, 7, 1, 2, 9, 1}, first[] = {3, 7, 1, 2, 8, 1};
    CU_ASSERT_EQUAL(forward_ops("......", later), 5);
    CU_ASSERT_EQUAL(forward_ops("......", first), 2); /* of equals the first */
}

void suite_phases(void) {
    RP_SUITE("phases");
    RP_TEST(phases_say_where_backward_begins);
    RP_TEST(without_phases_the_peak_is_the_border);
}
