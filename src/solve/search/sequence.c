#include "solve/search/sequence.h"

#include <math.h>

#include "solve/core/params.h"

/* Runs get their full length in the round ROUNDS_TO_FULL_LENGTH. */
enum rounds {
    ALL_ROUNDS,
    FIRST_ROUNDS,
    REHEAT_ROUNDS,
    FIRST_ROUNDING, /* the share is of another time */
    LATER_ROUNDINGS
};

/* A turn of each round. */
struct row {
    enum rp_method method;
    enum rp_space_id space;
    /* Of the time of one annealing run: where plans may not swap, and where they may. */
    double share, share_with_swaps;
    enum rounds rounds;
};
/* With swaps, short and cool runs find what long ones miss, which tend to end in the same
 * place whatever the seed. Near the least budget they may all end in the incumbent while
 * there are much better schedules. To reach these takes long runs from the incumbent, warm
 * enough to leave it. */
static const struct row rows[] = {
    {RP_LP_ROUNDING, RP_WITHOUT_SWAPS, 1, 0, FIRST_ROUNDING},
    {RP_LP_ROUNDING, RP_BOTH, 0, 1.2, FIRST_ROUNDING},
    {RP_ANNEAL, RP_WITHOUT_SWAPS, 1, 0.3, ALL_ROUNDS},
    {RP_LP_ROUNDING, RP_WITHOUT_SWAPS, 1.5, 0, LATER_ROUNDINGS},
    {RP_LP_ROUNDING, RP_BOTH, 0, 0.75, LATER_ROUNDINGS},
    {RP_NEIGHBORHOOD, RP_WITHOUT_SWAPS, 2, 0.5, ALL_ROUNDS},
    {RP_ANNEAL, RP_WITHOUT_RECOMPUTE, 0, 0.05, ALL_ROUNDS},
    {RP_ANNEAL, RP_BOTH, 0, 0.1, FIRST_ROUNDS},
    {RP_ANNEAL, RP_BOTH, 0, 0.1, FIRST_ROUNDS},
    {RP_ANNEAL, RP_BOTH, 0, 0.1, FIRST_ROUNDS},
    {RP_ANNEAL, RP_BOTH, 0, 0.6, ALL_ROUNDS},
    {RP_ANNEAL, RP_BOTH, 0, 4, REHEAT_ROUNDS},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

struct rp_sequence rp_sequence_begin(uint32_t n_ops, bool may_swap, bool homes,
                                     bool beside) {
    return (struct rp_sequence){
        .n_ops = n_ops, .may_swap = may_swap, .homes = homes, .beside = beside};
}

static bool may_round(const struct rp_sequence *s) {
    return s->n_ops >= MIN_ROUNDING_OPS && !s->homes;
}

static bool has_row(const struct rp_sequence *s, const struct row *r) {
    bool is_later = s->round > ROUNDS_TO_FULL_LENGTH && !s->homes;
    bool is_reheat =
        is_later && s->round >= FIRST_REHEAT && s->round % 2 == FIRST_REHEAT % 2;
    bool has_round = r->rounds == ALL_ROUNDS || (r->rounds == FIRST_ROUNDS && !is_later) ||
                     (r->rounds == REHEAT_ROUNDS && is_reheat) ||
                     (r->rounds == FIRST_ROUNDING && s->round == FIRST_ROUNDING_ROUND) ||
                     (r->rounds == LATER_ROUNDINGS && s->round >= LATER_ROUNDING_ROUND);
    bool is_elsewhere = s->may_swap && (s->homes || (s->beside && is_later));
    bool has_space = r->space == RP_WITHOUT_SWAPS ? !is_elsewhere : s->may_swap;
    bool has_share = (s->may_swap ? r->share_with_swaps : r->share) > 0;
    return has_space && has_round && has_share &&
           (r->method != RP_LP_ROUNDING || may_round(s));
}

/* Where plans may not swap, every second annealing run of full length starts from the
 * incumbent: it ends in other schedules near it, for neighbourhoods. Where they may
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

/* Is the graph neither too small nor too large for the method? */
static bool suits(const struct rp_sequence *s, const struct row *r) {
    return r->method != RP_NEIGHBORHOOD ||
           (s->n_ops >= MIN_NEIGHBORHOOD_OPS && s->n_ops <= MAX_NEIGHBORHOOD_OPS);
}

static const struct row *find_row(const struct rp_sequence *s, enum rp_method method,
                                  enum rp_space_id space) {
    for (const struct row *r = rows; r < rows + N_ROWS; r++)
        if (r->method == method && r->space == space && has_row(s, r))
            return r;
    return NULL;
}

/* The row that a turn follows: another one if its own method does not suit the graph. */
static const struct row *substitute(const struct rp_sequence *s, const struct row *r) {
    if (suits(s, r))
        return r;
    const struct row *other =
        s->round >= LATER_ROUNDING_ROUND ? find_row(s, RP_LP_ROUNDING, r->space) : NULL;
    return other != NULL ? other : find_row(s, RP_ANNEAL, r->space);
}

bool rp_sequence_next(struct rp_sequence *s, double limit, struct rp_turn *turn) {
    skip_to_turn(s);
    const struct row *r = substitute(s, &rows[s->row]);
    double full_seconds =
        rp_run_work(s->n_ops, r->space != RP_WITHOUT_SWAPS) / ANNEAL_WORK_PER_S;
    double quarterings = fmax(0, (double)ROUNDS_TO_FULL_LENGTH - s->round);
    *turn = (struct rp_turn){.k = s->k,
                             .round = s->round,
                             .method = r->method,
                             .space = r->space,
                             .from_incumbent = starts_from_incumbent(s, &rows[s->row]),
                             .run_seconds = ldexp(full_seconds, -2 * (int)quarterings),
                             .begin = s->done};
    if (r->rounds == FIRST_ROUNDING)
        turn->run_seconds = FIRST_ROUNDING_WORK_PER_OP * s->n_ops / ANNEAL_WORK_PER_S;
    turn->seconds = (s->may_swap ? r->share_with_swaps : r->share) * turn->run_seconds;
    if (s->round == MAX_ROUNDS || (s->k > 0 && s->done + turn->seconds > limit))
        return false;
    s->done += turn->seconds;
    s->k++;
    s->row++;
    return true;
}

bool rp_sequence_will_round(const struct rp_sequence *s, double limit) {
    struct rp_sequence ahead = *s;
    struct rp_turn turn;
    if (!may_round(s))
        return false;
    while (ahead.round <= FIRST_ROUNDING_ROUND && rp_sequence_next(&ahead, limit, &turn))
        if (turn.method == RP_LP_ROUNDING)
            return true;
    return false;
}
