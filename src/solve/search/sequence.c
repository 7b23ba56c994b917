#include "solve/search/sequence.h"

#include <math.h>

#include "solve/core/params.h"

/* Runs get their full length in the round ROUNDS_TO_FULL_LENGTH. */
enum rounds { ALL_ROUNDS, FULL_LENGTH, FIRST_ROUNDS, LATER_ROUNDS, REHEAT_ROUNDS };

/* A turn of each round. */
struct row {
    enum rp_method method;
    enum rp_space_id space;
    /* Of the time of one annealing run: where plans may not swap, and where they may. */
    double share, share_with_swaps;
    enum rounds rounds;
};
/* With swaps, short and cool runs find what long ones miss, which tend to end in the same
 * place whatever the seed. Once the incumbent comes from runs of full length, those from a
 * changed incumbent find more than those from keep-all. Near the least budget all of these
 * may end in the incumbent while there are much better schedules. To reach them takes long
 * runs from the incumbent, warm enough to leave it. On graphs of more than a thousand ops
 * they come after a minute: crossover finds more until then. */
static const struct row rows[] = {
    {RP_ANNEAL, RP_WITHOUT_SWAPS, 1, 0.3, ALL_ROUNDS},
    {RP_NEIGHBORHOOD, RP_WITHOUT_SWAPS, 2, 0.5, ALL_ROUNDS},
    {RP_POLISH, RP_WITHOUT_SWAPS, 0.15, 0.1, ALL_ROUNDS},
    {RP_ANNEAL, RP_WITHOUT_RECOMPUTE, 0, 0.05, ALL_ROUNDS},
    {RP_ANNEAL, RP_BOTH, 0, 0.1, FIRST_ROUNDS},
    {RP_ANNEAL, RP_BOTH, 0, 0.1, FIRST_ROUNDS},
    {RP_ANNEAL, RP_BOTH, 0, 0.1, FIRST_ROUNDS},
    {RP_PERTURB, RP_BOTH, 0, 0.15, LATER_ROUNDS},
    {RP_PERTURB, RP_BOTH, 0, 0.15, LATER_ROUNDS},
    {RP_PERTURB, RP_BOTH, 0, 0.15, LATER_ROUNDS},
    {RP_ANNEAL, RP_BOTH, 0, 0.6, ALL_ROUNDS},
    {RP_ANNEAL, RP_BOTH, 0, 4, REHEAT_ROUNDS},
    {RP_POLISH, RP_BOTH, 0, 0.3, ALL_ROUNDS},
    {RP_CROSSOVER, RP_WITHOUT_SWAPS, 1.25, 0.5, FULL_LENGTH},
    {RP_CROSSOVER, RP_BOTH, 0, 0.4, FULL_LENGTH},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

struct rp_sequence rp_sequence_begin(uint32_t n_ops, bool may_swap, bool homes,
                                     bool beside) {
    return (struct rp_sequence){
        .n_ops = n_ops, .may_swap = may_swap, .homes = homes, .beside = beside};
}

static bool has_row(const struct rp_sequence *s, const struct row *r) {
    bool is_later = s->round > ROUNDS_TO_FULL_LENGTH && !s->homes;
    bool is_reheat =
        is_later && s->round >= FIRST_REHEAT && s->round % 2 == FIRST_REHEAT % 2;
    bool has_round = r->rounds == ALL_ROUNDS ||
                     (r->rounds == FULL_LENGTH && s->round >= ROUNDS_TO_FULL_LENGTH) ||
                     (r->rounds == FIRST_ROUNDS && !is_later) ||
                     (r->rounds == LATER_ROUNDS && is_later) ||
                     (r->rounds == REHEAT_ROUNDS && is_reheat);
    bool is_elsewhere = s->may_swap && (s->homes || (s->beside && is_later));
    bool has_space = r->space == RP_WITHOUT_SWAPS ? !is_elsewhere : s->may_swap;
    return has_space && has_round;
}

/* Where plans may not swap, every second annealing run of full length starts from the
 * incumbent: it ends in other schedules near it, which crossover then joins. Where they may
 * swap, the long runs do. Where sources may live on the host, all do but the first of each
 * round: little is found from keep-all, except near the least budget. */
static bool starts_from_incumbent(const struct rp_sequence *s, const struct row *r) {
    bool is_first = r->rounds == FIRST_ROUNDS && r[-1].rounds != FIRST_ROUNDS;
    bool is_second = r->method == RP_ANNEAL && r->space == RP_WITHOUT_SWAPS &&
                     s->round > ROUNDS_TO_FULL_LENGTH &&
                     s->round % 2 != ROUNDS_TO_FULL_LENGTH % 2;
    return is_second || r->rounds == REHEAT_ROUNDS || (s->homes && !is_first);
}

static void skip_to_turn(struct rp_sequence *s) {
    while (s->row == N_ROWS || !has_row(s, &rows[s->row])) {
        s->row = s->row == N_ROWS ? 0 : s->row + 1;
        s->round += s->row == 0;
    }
}

/* The row whose share of the time a turn has: annealing's, if the graph is too small or too
 * large for the method and annealing takes the turn. */
static const struct row *share_row(const struct rp_sequence *s, const struct row *r) {
    bool suits = r->method == RP_NEIGHBORHOOD
                     ? s->n_ops >= MIN_NEIGHBORHOOD_OPS && s->n_ops <= MAX_NEIGHBORHOOD_OPS
                     : r->method != RP_CROSSOVER || s->n_ops <= MAX_CROSSOVER_OPS;
    return r->space == RP_WITHOUT_SWAPS && !suits ? &rows[0] : r;
}

bool rp_sequence_next(struct rp_sequence *s, double limit, struct rp_turn *turn) {
    skip_to_turn(s);
    const struct row *r = &rows[s->row];
    double full_seconds =
        rp_run_work(s->n_ops, r->space != RP_WITHOUT_SWAPS) / ANNEAL_WORK_PER_S;
    double quarterings = fmax(0, (double)ROUNDS_TO_FULL_LENGTH - s->round);
    *turn = (struct rp_turn){.k = s->k,
                             .round = s->round,
                             .method = r->method,
                             .space = r->space,
                             .from_incumbent = starts_from_incumbent(s, r),
                             .run_seconds = ldexp(full_seconds, -2 * (int)quarterings),
                             .begin = s->done};
    const struct row *share = share_row(s, r);
    turn->seconds =
        (s->may_swap ? share->share_with_swaps : share->share) * turn->run_seconds;
    if (s->round == MAX_ROUNDS || (s->k > 0 && s->done + turn->seconds > limit))
        return false;
    s->done += turn->seconds;
    s->k++;
    s->row++;
    return true;
}
