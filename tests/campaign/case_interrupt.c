/* Signals at any time, and tiny time limits on graphs of any size. */
#include "cases.h"
#include "curve.h"

#include <signal.h>
#include <stdio.h>

/* An interrupted command may have nothing to show, but what it leaves must be whole. */
static void check_leftovers(struct cam_case *c, const struct cam_subject *s,
                            bool wants_a_plan, bool too_early, const struct cam_ended *e) {
    struct ck_figures f;
    if (cam_exists(c, "p.json") && !cam_same_bytes(c, "p.json", "before"))
        cam_judge(c, s->name, "p.json", &f);
    else if (e->code == 0 && wants_a_plan)
        cam_fail(c, "exit code 0 without a plan");
    if (e->signal != 0 && e->signal != SIGKILL && !too_early)
        cam_fail(c, "signal %d ends it at once", e->signal);
    cam_check_whole(c, "p.proof.json");
    cam_check_whole(c, "curve");
}

static void draw_command(struct cam_case *c, const struct cam_subject *s,
                         struct cam_line *line) {
    static const char *const commands[] = {"solve", "solve", "solve", "compare", "sweep"};
    const char *command = commands[rp_rng_below(&c->r, 5)];
    cam_begin(c, line, command);
    cam_word(line, "%s", s->name);
    cam_word(line, "-t%u", cam_between(&c->r, 3, 20));
    if (command[1] == 'w') {
        cam_word(line, "-ocurve");
        cam_expect(c, "curve");
        if (rp_rng_percent(&c->r, 40))
            cam_word(line, "-j2");
    } else if (command[1] == 'o' && command[0] == 's') {
        cam_draw_budget(c, s, line);
        cam_word(line, "-op.json");
        cam_expect(c, "p.json");
        if (rp_rng_percent(&c->r, 30)) { /* a file that is to be replaced */
            cam_write(c, "before", "{}");
            cam_write(c, "p.json", "{}");
        }
        if (rp_rng_percent(&c->r, 30)) {
            cam_word(line, "--reorder");
        } else if (!s->graph.free_order && rp_rng_percent(&c->r, 30)) {
            cam_word(line, "--certificate=p.proof.json");
            cam_expect(c, "p.proof.json");
        }
        if (rp_rng_percent(&c->r, 30))
            cam_word(line, "--no-addresses");
    }
}

static void draw_signals(struct cam_case *c, struct cam_line *line) {
    static const int all[] = {SIGINT, SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGKILL, SIGPIPE};
    line->signals[0] = all[rp_rng_below(&c->r, sizeof all / sizeof *all)];
    line->signal_after_s[0] = (double)cam_log_uniform(&c->r, 11) / 1000;
    if (line->signals[0] == SIGPIPE) {
        line->signals[1] = SIGTERM;
        line->signal_after_s[1] = line->signal_after_s[0] + 0.2;
    } else if (rp_rng_percent(&c->r, 10)) {
        line->signals[1] = SIGINT;
        line->signal_after_s[1] = line->signal_after_s[0] + 2.1;
    }
}

/* What was planned before the signal makes a table. */
static void merge(struct cam_case *c, const struct cam_subject *s) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    cam_begin(c, &line, "sweep");
    cam_word(&line, "%s", s->name);
    cam_word(&line, "-ocurve");
    cam_word(&line, "--merge");
    cam_word(&line, "--json");
    cam_command(c, &line, &e);
    json_t *o = e.out_len > 0 ? cam_json(c, &e) : NULL;
    cam_check_curve(c, s, "curve", UINT64_MAX, o);
    json_decref(o);
    cam_ended_fini(&e);
}

void cam_case_interrupt(struct cam_case *c) {
    struct cam_subject s;
    struct cam_ended e;
    struct cam_line line = {.n = 0};
    struct cam_wish wish = cam_draw_wish(c);
    if (wish.max_ops <= 60)
        wish = (struct cam_wish){.min_ops = 25, .max_ops = 60};
    cam_new_subject(c, "g.json", &wish, &s);
    if (!s.solvable)
        return;
    draw_command(c, &s, &line);
    draw_signals(c, &line);
    bool wants_a_plan = cam_has(&line, "-op.json");
    bool too_early = line.signal_after_s[0] < 0.2 || line.signals[1] == SIGINT;
    cam_command(c, &line, &e);
    check_leftovers(c, &s, wants_a_plan, too_early, &e);
    cam_ended_fini(&e);
    if (cam_exists(c, "curve"))
        merge(c, &s);
}

void cam_case_limit(struct cam_case *c) {
    struct cam_subject s;
    struct cam_answer a;
    struct cam_wish wish = cam_draw_wish(c);
    if (rp_rng_percent(&c->r, 50))
        wish = (struct cam_wish){.min_ops = 400, .max_ops = 5000};
    cam_new_subject(c, "g.json", &wish, &s);
    for (int k = 0; k < 2 && s.solvable; k++) {
        struct cam_line line = {.n = 0};
        cam_draw_solve(c, &s, k == 0 ? "p0.json" : "p1.json", NULL, &line);
        cam_solve(c, &s, k == 0 ? "p0.json" : "p1.json", &line, &a);
    }
}
