/* Of two sets of plans, the wider one has the faster plan. */
#include "cases.h"
#include "planning.h"

#include <inttypes.h>
#include <stdio.h>

/* What the options allow. */
enum { RECOMPUTE = 1, SWAP = 2, ANY_ORDER = 4, WIDEST = 7 };

static void add_class(const struct cam_subject *s, uint32_t class, struct cam_line *line) {
    if (!(class & RECOMPUTE))
        cam_word(line, "--no-recompute");
    if (!(class & SWAP))
        cam_word(line, "--no-swap");
    if (s->graph.free_order && !(class & ANY_ORDER))
        cam_word(line, "--given-order");
    if (!s->graph.free_order && class & ANY_ORDER)
        cam_word(line, "--reorder");
}

/* The options that all classes of a case have in common. */
static void draw_common(struct cam_case *c, const struct cam_subject *s,
                        struct cam_line *line) {
    cam_draw_tight_budget(c, s, line);
    cam_draw_limit(c, line, 0.003, s->graph.n_ops > 30 ? 0.1 : 0.3);
    line->limit_s = 0;
    cam_word(line, "--ignore-clock");
    if (rp_rng_percent(&c->r, 40))
        cam_word(line, "--no-addresses");
    cam_draw_host_budget(c, s, line);
}

static void compare(struct cam_case *c, const struct cam_answer *narrow,
                    const struct cam_answer *wide) {
    if (narrow->found && !wide->found)
        cam_fail(c, "%s exists, and with more allowed there is no plan", narrow->name);
    if (narrow->found && wide->found && wide->plan.time_ns > narrow->plan.time_ns)
        cam_fail(c, "%s takes %" PRIu64 " ns, and %s, with less allowed, %" PRIu64,
                 wide->name, wide->plan.time_ns, narrow->name, narrow->plan.time_ns);
}

void cam_case_classes(struct cam_case *c) {
    struct cam_subject s;
    struct cam_answer answers[WIDEST + 1] = {{.found = false}};
    struct cam_wish wish = cam_small_wish(&c->r);
    wish.homes = rp_rng_percent(&c->r, 30);
    cam_new_subject(c, "g.json", &wish, &s);
    struct rp_rng begin = c->r;
    for (uint32_t class = 0; class <= WIDEST && s.solvable; class ++) {
        struct cam_line line = {.n = 0};
        char name[32];
        snprintf(name, sizeof name, "p%u.json", class);
        c->r = begin;
        cam_begin_solve(c, &s, name, &line);
        draw_common(c, &s, &line);
        add_class(&s, class, &line);
        cam_solve(c, &s, name, &line, &answers[class]);
    }
    cam_cross_check(c, answers, WIDEST + 1);
    for (uint32_t narrow = 0; narrow < WIDEST; narrow++)
        for (uint32_t wide = narrow + 1; wide <= WIDEST; wide++)
            if ((narrow & wide) == narrow)
                compare(c, &answers[narrow], &answers[wide]);
}
