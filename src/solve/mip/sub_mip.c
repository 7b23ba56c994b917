#include "solve/mip/sub_mip.h"

#include <inttypes.h>

#include "base/log.h"
#include "solve/mip/worker.h"

#define POLL_SECONDS 0.2
/* In units: a process. Columns per unit. */
#define PROCESS_WORK 4000
#define COLUMNS_PER_UNIT 8

uint64_t rp_sub_mip_least_work(const struct rp_formulation *base) {
    return PROCESS_WORK + base->n_cols / COLUMNS_PER_UNIT;
}

/* What has come since `rest`. */
static struct rp_sub_mip_result take_answer(const struct rp_mip_worker_result *answer,
                                            const struct rp_sub_mip_rest *rest,
                                            bool finished, uint64_t before_ns,
                                            struct rp_schedule *s) {
    const struct rp_branch_cut_state *state = &answer->state;
    struct rp_sub_mip_result r = {.improved = state->found && state->time_ns < before_ns,
                                  .solved =
                                      finished && state->status != RP_BRANCH_CUT_FAILED,
                                  .time_ns = state->time_ns,
                                  .work = state->statistics.work - rest->work,
                                  .seconds = answer->seconds - rest->seconds};
    if (r.improved)
        rp_schedule_copy(s, answer->schedule);
    rp_log(2, "sub-MIP: %" PRIu32 " columns, %" PRIu64 " nodes, time %" PRIu64 "%s",
           state->n_cols, state->statistics.nodes, state->time_ns,
           r.solved ? ", solved" : "");
    return r;
}

void rp_sub_mip_give_up(struct rp_sub_mip_rest *rest) {
    rp_mip_worker_end(rest->worker);
    *rest = (struct rp_sub_mip_rest){0};
}

struct rp_sub_mip_result rp_sub_mip_solve(const struct rp_sub_mip *m,
                                          struct rp_schedule *s) {
    const struct rp_instance *p = m->base->instance;
    struct rp_branch_cut_options options = {
        .engine = m->engine, .base = m->base, .known = m->known};
    struct rp_sub_mip_rest rest = m->rest != NULL ? *m->rest : (struct rp_sub_mip_rest){0};
    struct rp_mip_worker_result answer = {0};
    uint64_t least_work = rest.worker == NULL ? rp_sub_mip_least_work(m->base) : 0;
    struct rp_sub_mip_result r = {.work = least_work};
    enum rp_mip_worker_status status = RP_MIP_DEADLINE;
    if (rest.worker == NULL)
        rest.worker = rp_mip_worker_start(p, &options);
    if (rest.worker == NULL)
        return r;
    rp_mip_worker_submit(rest.worker, m->work, s);
    while (status == RP_MIP_DEADLINE && !m->stop(m->stop_arg))
        status = rp_mip_worker_wait(rest.worker, POLL_SECONDS, &answer);
    if (status == RP_MIP_PAUSED || status == RP_MIP_FINISHED) {
        uint64_t before_ns = rp_schedule_cost(p, s).time_ns;
        r = take_answer(&answer, &rest, status == RP_MIP_FINISHED, before_ns, s);
        r.work += least_work;
        rest.work = answer.state.statistics.work;
        rest.seconds = answer.seconds;
    }
    if (m->rest == NULL || status != RP_MIP_PAUSED)
        rp_sub_mip_give_up(&rest);
    if (m->rest != NULL)
        *m->rest = rest;
    return r;
}
