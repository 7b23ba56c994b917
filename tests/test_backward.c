/* Compares the backward passes of single layers and of whole networks with finite
 * differences of the loss, in f64. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "kernels/op_table.h"
#include "networks.h"
#include "run.h"
#include "step.h"

/* A direction in the space of parameters: a number in [-1, 1) for each element. */
static double direction(uint32_t x, uint64_t i) {
    double d;
    const struct rp_fill fill = {RP_ELEMENT_F64, 1, 1000003u * x + i, -1, 1};
    rp_fill_values(&fill, &d);
    return d;
}

/* Moves parameter x, or all of them (RP_NONE), by `far` times the direction. */
static void shift(struct rp_step_run *s, uint32_t only, double far) {
    for (uint32_t x = 0; x < s->g->n_tensors; x++)
        if (s->g->tensors[x].kind == RP_PARAMETER && (only == RP_NONE || only == x))
            for (uint64_t i = 0; i < rp_step_count(s->g, x); i++)
                ((double *)s->at[x])[i] += far * direction(x, i);
}

static double loss_at(struct rp_step_run *s, uint32_t only, double far) {
    shift(s, only, far);
    rp_step_run_forward(s);
    shift(s, only, -far);
    return *(double *)s->at[rp_step_loss(s->g)];
}

/* The change of the loss along the direction, as the gradients predict it. */
static double predicted(const struct rp_step_run *s, uint32_t only) {
    double sum = 0;
    for (uint32_t k = 0; k < s->g->n_keep; k++) {
        const uint32_t grad = s->g->keep[k], x = rp_step_param_of(s->g, grad);
        if (x == RP_NONE || (only != RP_NONE && only != x))
            continue;
        for (uint64_t i = 0; i < rp_step_count(s->g, x); i++)
            sum += ((double *)s->at[grad])[i] * direction(x, i);
    }
    return sum;
}

/* With long steps the differences suffer from curvature (a batch norm over two elements is
 * steep) and from the kinks of ReLU and maximum. With short steps they suffer from
 * rounding. Right gradients agree at one of the lengths. */
static void check_direction(struct rp_step_run *s, uint32_t only) {
    static const double lengths[] = {1e-6, 1e-7, 1e-8, 1e-9, 1e-10};
    const double want = predicted(s, only);
    double got = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const double far = lengths[i];
        got = (loss_at(s, only, far) - loss_at(s, only, -far)) / (2 * far);
        if (fabs(got - want) < 2e-5 * (fabs(want) + 1e-4))
            return;
    }
    printf("%s, %s: gradients say %.9g, differences %.9g\n", s->g->name,
           only == RP_NONE ? "all parameters" : s->g->tensors[only].name, want, got);
    CU_FAIL("gradient and difference");
}

/* Checks all parameters together, and then three tensors alone, because an error in a few
 * elements may be too small to see in the whole. Each network gets other tensors. */
static void agrees_with_differences(const struct rp_graph *g) {
    struct rp_step_run s;
    rp_step_open(&s, g, RP_BIND_F64);
    rp_step_run_all(&s);
    check_direction(&s, RP_NONE);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t k = (g->n_ops + i * g->n_keep / 3) % g->n_keep;
        const uint32_t x = rp_step_param_of(g, g->keep[k]);
        if (x != RP_NONE)
            check_direction(&s, x);
    }
    rp_step_close(&s);
}

static void gradients_of_every_network_agree_with_differences(void) {
    rp_net_all_tiny(agrees_with_differences);
}

/* The sums of two micro-batches are the gradients of the mean of their losses. */
static void sums_over_micro_batches_agree_with_differences(void) {
    struct rp_zoo_options o = rp_net_tiny();
    o.micro_batches = 2;
    o.batch = 4;
    rp_net_all_with(o, agrees_with_differences);
}

/* ---- one layer, every element ---- */

static double loss_with(struct rp_step_run *s, double *element, double value) {
    const double was = *element;
    *element = value;
    rp_step_run_forward(s);
    *element = was;
    return *(double *)s->at[rp_step_loss(s->g)];
}

static void check_element(struct rp_step_run *s, uint32_t x, uint64_t i, double want) {
    static const double lengths[] = {1e-5, 1e-7};
    double *element = (double *)s->at[x] + i, got = 0;
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const double far = lengths[k], here = *element;
        got = (loss_with(s, element, here + far) - loss_with(s, element, here - far)) /
              (2 * far);
        if (fabs(got - want) < 1e-7 * (1 + fabs(want)))
            return;
    }
    printf("%s, %s[%d]: gradient %.9g, difference %.9g\n", s->g->name,
           s->g->tensors[x].name, (int)i, want, got);
    CU_FAIL("gradient and difference");
}

static void every_element_agrees(const struct rp_graph *g) {
    struct rp_step_run s;
    rp_step_open(&s, g, RP_BIND_F64);
    rp_step_run_all(&s);
    for (uint32_t k = 0; k < g->n_keep; k++) {
        const uint32_t x = rp_step_param_of(g, g->keep[k]);
        for (uint64_t i = 0; x != RP_NONE && i < rp_step_count(g, x); i++)
            check_element(&s, x, i, ((double *)s.at[g->keep[k]])[i]);
    }
    rp_step_close(&s);
}

static void gradients_of_every_layer_agree_element_by_element(void) {
    rp_case_all(RP_F32, every_element_agrees);
}

/* ---- every kind is tested ---- */

static bool in_some_case(const char *kind) {
    bool found = false;
    for (size_t c = 0; c < rp_n_cases && !found; c++) {
        struct rp_graph g = rp_case_graph(&rp_cases[c], RP_F32);
        for (uint32_t i = 0; i < g.n_ops; i++)
            found |= strcmp(g.ops[i].kind, kind) == 0;
        rp_graph_fini(&g);
    }
    return found;
}

static void every_op_kind_with_a_kernel_has_a_test_case(void) {
    for (size_t i = 0; i < rp_n_op_kinds; i++)
        if (!in_some_case(rp_op_kinds[i].kind)) {
            printf("%s\n", rp_op_kinds[i].kind);
            CU_FAIL("a kind that no case tries");
        }
}

/* Every op can be bound, and rounding changes the loss only a little. The tolerance is
 * larger if a batch norm works on two samples of one element, because then only their order
 * is left. */
static void rounding_changes_the_loss_little(const char *name, enum rp_dtype dtype,
                                             double tolerance) {
    struct rp_zoo_options o = rp_net_tiny();
    o.dtype = dtype;
    struct rp_graph g = rp_net_build(name, o);
    struct rp_step_run half, exact;
    rp_step_open(&half, &g, RP_BIND_GRAPH);
    rp_step_open(&exact, &g, RP_BIND_F64);
    rp_step_run_forward(&half);
    rp_step_run_forward(&exact);
    const double got = *(float *)half.at[rp_step_loss(&g)];
    const double want = *(double *)exact.at[rp_step_loss(&g)];
    const bool norms = rp_net_has_kind(&g, "batch_norm");
    CU_ASSERT_TRUE(fabs(got / want - 1) < (norms ? 0.3 : tolerance));
    rp_step_close(&half);
    rp_step_close(&exact);
    rp_graph_fini(&g);
}

static void types_of_16_bits_change_the_loss_of_every_network_little(void) {
    for (size_t i = 0; i < rp_zoo_n_entries; i++) {
        rounding_changes_the_loss_little(rp_zoo_registry[i]->name, RP_F16, 0.001);
        rounding_changes_the_loss_little(rp_zoo_registry[i]->name, RP_BF16, 0.008);
    }
}

void suite_backward(void) {
    RP_SUITE("backward");
    RP_TEST(gradients_of_every_layer_agree_element_by_element);
    RP_TEST(every_op_kind_with_a_kernel_has_a_test_case);
    RP_TEST(types_of_16_bits_change_the_loss_of_every_network_little);
    RP_TEST(gradients_of_every_network_agree_with_differences);
    RP_TEST(sums_over_micro_batches_agree_with_differences);
}
