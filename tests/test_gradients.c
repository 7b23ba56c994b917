/* The backward pass of every network against differences of its loss, in f64. */
#include <math.h>
#include <stdio.h>

#include "networks.h"
#include "run.h"
#include "step.h"

/* A direction in the space of parameters: numbers in [-1, 1) that depend on the element. */
static double direction(uint32_t x, uint64_t i) {
    double d;
    const struct rp_fill fill = {RP_ELEMENT_F64, 1, 1000003u * x + i, -1, 1};
    rp_fill_values(&fill, &d);
    return d;
}

/* Moves parameter x, or all of them (RP_NONE), `far` along the direction. */
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

/* What the gradients say the loss changes along the direction. */
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

/* Long steps meet curvature (a batch norm over two elements is steep) and the kinks of ReLU
 * and maximum, short ones the rounding of the loss: right gradients agree at one of them.
 */
static void check_direction(struct rp_step_run *s, uint32_t only) {
    static const double lengths[] = {1e-6, 1e-8, 1e-9, 1e-10};
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

static void agrees_with_differences(const struct rp_graph *g) {
    struct rp_step_run s;
    rp_step_open(&s, g, RP_BIND_F64);
    rp_step_run_all(&s);
    check_direction(&s, RP_NONE);
    rp_step_close(&s);
}

static void every_networks_gradients_are_those_of_its_loss(void) {
    rp_net_all_tiny(agrees_with_differences);
}

void suite_gradients(void) {
    RP_SUITE("gradients");
    RP_TEST(every_networks_gradients_are_those_of_its_loss);
}
