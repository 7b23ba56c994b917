#include "solve/search/run_annealing.h"

#include "solve/core/params.h"
#include "solve/core/temperature.h"

void rp_run_annealing(struct rp_context *w, const struct rp_instance *p,
                      const struct rp_anneal_options *o, enum rp_method method,
                      struct rp_schedule *s) {
    struct rp_method_statistics *m = &w->statistics.method[method];
    struct rp_anneal_result r;
    struct rp_anneal_options until = *o;
    until.until = &w->stop;
    rp_anneal(p, &until, s, &r);
    w->report->moves += r.moves;
    rp_anneal_statistics_add(&w->statistics.anneal, &r.statistics);
    m->calls++;
    m->work += r.statistics.work;
    m->seconds += r.seconds;
}

double rp_share_of_run(const struct rp_instance *p, double work) {
    return work / rp_run_work(p->n_ops, p->out_ns != NULL);
}

static bool stop_run(void *arg, double best_ns) {
    (void)best_ns;
    return rp_context_stopped(arg);
}

void rp_run_annealing_alone(struct rp_context *w, const struct rp_instance *p, double work,
                            double times, uint64_t seed, struct rp_schedule *s) {
    if (rp_context_stopped(w))
        return;
    struct rp_anneal_options o = {
        .seed = seed,
        .work = (uint64_t)work,
        .stop = stop_run,
        .stop_arg = w,
        .initial_temperature = times * rp_initial_temperature(rp_share_of_run(p, work))};
    rp_run_annealing(w, p, &o, RP_ANNEAL, s);
}
