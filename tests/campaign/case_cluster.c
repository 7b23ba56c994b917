/* A sweep whose points are planned by commands of their own. */
#include "cases.h"
#include "curve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void draw_sweep(struct cam_case *c, const struct cam_subject *s, const char *folder,
                       struct cam_line *line) {
    cam_begin(c, line, "sweep");
    cam_word(line, "%s", s->name);
    cam_word(line, "-o%s", folder);
    cam_word(line, "--no-seconds");
    cam_word(line, "--ignore-clock");
    if (rp_rng_percent(&c->r, 30))
        cam_word(line, "--budget=%u%%,%u%%..100%%:3", cam_between(&c->r, 20, 90),
                 cam_between(&c->r, 60, 90));
    else
        cam_word(line, "-n%u", cam_between(&c->r, 2, CAM_MOST_POINTS));
    cam_draw_limit(c, line, 0.02, 0.1);
    line->limit_s = 0;
    if (rp_rng_percent(&c->r, 30))
        cam_word(line, "--no-addresses");
    if (rp_rng_percent(&c->r, 30))
        cam_word(line, "--policy=libra");
    cam_expect(c, folder);
}

/* Runs the commands, sometimes the last one first. */
static void run_jobs(struct cam_case *c, const char *commands) {
    const char *order = rp_rng_percent(&c->r, 50) ? "cat" : "tac";
    cam_write(c, "jobs", commands);
    cam_expect(c, "jobs.log");
    char *line = rp_format("cd '%s' && %s jobs | sh -e >jobs.log 2>&1", c->folder, order);
    if (system(line) != 0)
        cam_fail(c, "a command of --jobs fails; see jobs.log");
    free(line);
}

/* Asks for commands and runs them, round after round. */
static void plan_in_parts(struct cam_case *c, const struct cam_subject *s,
                          struct rp_rng options) {
    enum { MOST_ROUNDS = 12 };
    bool more = true;
    for (int round = 0; more && !c->failed; round++) {
        struct cam_line line = {.n = 0};
        struct cam_ended e;
        struct rp_rng now = c->r;
        c->r = options;
        draw_sweep(c, s, "parts", &line);
        c->r = now;
        cam_word(&line, "--jobs");
        cam_command(c, &line, &e);
        more = e.code == 0 && e.out_len > 0;
        if (e.code != 0)
            cam_fail(c, "sweep --jobs: exit code %d: %.200s", e.code, e.err);
        if (more && round == MOST_ROUNDS)
            cam_fail(c, "sweep --jobs: never done");
        else if (more)
            run_jobs(c, e.out);
        cam_ended_fini(&e);
    }
}

/* Somebody deletes one of the files, or a disk damages it. */
static void lose_a_plan(struct cam_case *c) {
    char *line = rp_format("cd '%s/parts/g' && f=$(ls | grep plan | tail -n 1) && "
                           "if [ -n \"$f\" ]; then %s \"$f\"; fi",
                           c->folder, rp_rng_percent(&c->r, 50) ? "rm" : "truncate -s 9");
    if (system(line) != 0)
        abort();
    free(line);
}

static int finish(struct cam_case *c, const struct cam_subject *s, struct rp_rng options,
                  const char *folder, bool merge) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    c->r = options;
    draw_sweep(c, s, folder, &line);
    cam_word(&line, "--json");
    cam_word(&line, merge ? "--merge" : "-j2");
    cam_command(c, &line, &e);
    json_t *o = e.code <= 1 ? cam_json(c, &e) : NULL;
    cam_check_curve(c, s, folder, UINT64_MAX, o);
    json_decref(o);
    int code = e.code;
    cam_ended_fini(&e);
    return code;
}

void cam_case_cluster(struct cam_case *c) {
    struct cam_subject s;
    struct cam_wish wish = cam_draw_wish(c);
    wish.max_ops = wish.max_ops > 60 ? 60 : wish.max_ops;
    wish.min_ops = wish.min_ops > 20 ? 20 : wish.min_ops;
    wish.plain = true;
    cam_new_subject(c, "g.json", &wish, &s);
    if (!s.solvable || s.graph.extreme)
        return;
    struct rp_rng options = c->r;
    rp_rng_next(&c->r);
    plan_in_parts(c, &s, options);
    if (rp_rng_percent(&c->r, 40)) {
        lose_a_plan(c);
        plan_in_parts(c, &s, options);
    }
    int whole = finish(c, &s, options, "whole", false);
    int parts = finish(c, &s, options, "parts", true);
    if (whole != parts)
        cam_fail(c, "exit code %d at once and %d in parts", whole, parts);
    if (!cam_same_bytes(c, "whole/sweep.csv", "parts/sweep.csv") ||
        !cam_same_bytes(c, "whole/sweep.json", "parts/sweep.json"))
        cam_fail(c, "the table of a sweep in parts is another one");
}
