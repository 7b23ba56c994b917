/* The commands that plan several times: sweep and maxbatch. */
#include "cases.h"
#include "curve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- sweep ---- */

void cam_case_sweep(struct cam_case *c) {
    struct cam_subject s;
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    struct cam_wish wish = cam_draw_wish(c);
    cam_new_subject(c, "g.json", &wish, &s);
    if (!s.solvable)
        return;
    cam_begin(c, &line, "sweep");
    cam_word(&line, "%s", s.name);
    cam_word(&line, "--json");
    cam_word(&line, "-o");
    cam_word(&line, "curve");
    cam_expect(c, "curve");
    cam_word(&line, "-n%u", cam_between(&c->r, 2, CAM_MOST_POINTS));
    cam_draw_limit(c, &line, 0.02, 0.2);
    line.limit_s = 0; /* it is one for each point */
    if (rp_rng_percent(&c->r, 30))
        cam_word(&line, "--no-addresses");
    if (rp_rng_percent(&c->r, 30))
        cam_word(&line, "-j2");
    if (rp_rng_percent(&c->r, 30))
        cam_word(&line, "--gap=%u", cam_between(&c->r, 0, 5));
    if (c->o->steady || rp_rng_percent(&c->r, 20))
        cam_word(&line, "--ignore-clock");
    cam_draw_host_budget(c, &s, &line);
    uint64_t host_budget = cam_host_budget(&line);
    cam_command(c, &line, &e);
    if (e.code != 0 && !s.graph.extreme)
        cam_fail(c, "sweep: exit code %d: %.200s", e.code, e.err);
    json_t *o = e.code == 0 ? cam_json(c, &e) : NULL;
    cam_check_curve(c, &s, "curve", host_budget, o);
    json_decref(o);
    cam_ended_fini(&e);
}

/* ---- maxbatch ---- */

static void draw_network(struct cam_case *c, struct cam_line *line) {
    static const char *const networks[][4] = {
        {"vgg16", "--image=32", NULL},          {"resnet18", "--image=32", NULL},
        {"mobilenet_v1", "--image=32", NULL},   {"unet", "--image=64", NULL},
        {"fcn8", "--image=64", NULL},           {"bert-base", "--layers=1", "--seq=16"},
        {"gpt2", "--layers=1", "--seq=16"},     {"lstm-lm", "--layers=1", "--steps=4"},
        {"vit-b16", "--layers=1", "--image=32"}};
    size_t k = rp_rng_below(&c->r, sizeof networks / sizeof *networks);
    for (size_t i = 0; i < 4 && networks[k][i] != NULL; i++)
        cam_word(line, "%s", networks[k][i]);
}

void cam_case_maxbatch(struct cam_case *c) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    struct ck_figures f;
    char policy[160];
    cam_begin(c, &line, "maxbatch");
    draw_network(c, &line);
    cam_word(&line, "--device=v100-16g");
    cam_word(&line, "--json");
    cam_word(&line, "--budget=%uMiB", cam_between(&c->r, 500, 1500));
    cam_word(&line, "--precision=%u", cam_between(&c->r, 5, 40));
    cam_draw_limit(c, &line, 0.02, 0.1);
    line.limit_s = 0; /* it is one for each search */
    cam_draw_policy(c, policy, sizeof policy);
    if (rp_rng_percent(&c->r, 60))
        cam_word(&line, "--policy=%s", policy);
    if (rp_rng_percent(&c->r, 50))
        cam_word(&line, "--fit-only");
    if (rp_rng_percent(&c->r, 30))
        cam_word(&line, "--max-overhead=%u", cam_between(&c->r, 0, 60));
    if (rp_rng_percent(&c->r, 30))
        cam_word(&line, "--no-addresses");
    if (rp_rng_percent(&c->r, 30))
        cam_word(&line, "--host-budget=%uMiB", cam_between(&c->r, 0, 800));
    cam_word(&line, "-op.json");
    cam_word(&line, "-gg.json");
    cam_expect(c, "p.json");
    cam_expect(c, "g.json");
    cam_command(c, &line, &e);
    if (e.code == 2 || e.code == 3)
        cam_fail(c, "maxbatch: exit code %d: %.200s", e.code, e.err);
    if (e.code <= 1)
        json_decref(cam_json(c, &e));
    if ((e.code == 0) != (cam_exists(c, "p.json") && cam_exists(c, "g.json")))
        cam_fail(c, "maxbatch: exit code %d, and the files do not fit to it", e.code);
    if (e.code == 0)
        cam_judge(c, "g.json", "p.json", &f);
    cam_ended_fini(&e);
}
