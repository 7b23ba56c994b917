#include "emit/ref_replay.h"

#include "emit/runtime/expected.h"

static const struct {
    enum replay_order order;
    const char *text; /* completes "replay, copies ..." */
} orders[] = {
    {REPLAY_COPIES_FIRST, "as early as they may be"},
    {REPLAY_COPIES_LAST, "as late as they may be"},
    {REPLAY_FREELY, "on threads of their own"},
};
enum { N_ORDERS = sizeof orders / sizeof orders[0] };

static bool has_copies(const struct replay_schedule *s) {
    for (uint32_t k = 0; k < s->n_steps; k++)
        if (s->steps[k].what == REPLAY_SWAP_OUT || s->steps[k].what == REPLAY_SWAP_IN)
            return true;
    return false;
}

static rp_rc run_orders(const struct replay_program *p, bool extremes,
                        const struct replay_expected *expected, struct rp_ref_replay *r,
                        struct rp_err *err) {
    struct replay_result result;
    for (int k = extremes && has_copies(&p->plan) ? 0 : N_ORDERS - 1; k < N_ORDERS; k++) {
        if (!replay_run(p, &p->plan, orders[k].order, expected, &result))
            return rp_fail(err, RP_ENV, "replay: %s", result.wrong);
        if (result.wrong[0] != '\0')
            return rp_fail(err, RP_NO, "replay, copies %s: %s", orders[k].text,
                           result.wrong);
        r->n_checked += result.n_checked;
        r->n_orders++;
    }
    return RP_OK;
}

rp_rc rp_ref_replay(const struct rp_replay_tables *t, uint32_t n_steps, bool extremes,
                    struct rp_ref_replay *r, struct rp_err *err) {
    const struct replay_program *p = &t->program;
    struct replay_expected expected;
    rp_rc rc;
    *r = (struct rp_ref_replay){.n_kept = p->n_keep,
                                .n_steps = n_steps > 0 ? n_steps : replay_usual_steps(p)};
    if (replay_expected_build(p, r->n_steps, &expected))
        rc = run_orders(p, extremes, &expected, r, err);
    else
        rc = rp_fail(err, RP_ENV,
                     "replay: not enough memory for the step without rematerialization");
    replay_expected_fini(&expected);
    return rc;
}
