#include "cases.h"
#include "mutate.h"
#include "planning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MUTANTS = 30 };

static json_t *load(const struct cam_case *c, const char *name) {
    char *path = cam_path(c, name);
    json_t *o = json_load_file(path, 0, NULL);
    free(path);
    return o;
}

/* A file that only turned into version 2 tells nothing where the program reads version 1.
 */
static void dump(struct cam_case *c, const char *name, json_t *o) {
    if (cam_member(o, "version") == 2 && !c->o->version_2)
        json_object_set_new(o, "version", json_integer(3));
    char *text = json_dumps(o, JSON_COMPACT);
    cam_write(c, name, text);
    free(text);
}

static void verify(struct cam_case *c, const char *graph, const char *plan,
                   struct cam_ended *e) {
    struct cam_line line = {.n = 0};
    cam_begin(c, &line, "verify");
    cam_word(&line, "%s", graph);
    cam_word(&line, "%s", plan);
    cam_command(c, &line, e);
}

static void judge_plan(struct cam_case *c, const char *graph, const char *name) {
    struct cam_ended e;
    struct ck_figures f;
    char why[256] = "", *graph_path = cam_path(c, graph), *path = cam_path(c, name);
    verify(c, graph, name, &e);
    enum ck_verdict verdict = ck_check(graph_path, path, &f, why);
    if ((e.code == 0) != (verdict == CK_VALID))
        cam_fail(c, "%s: verify says: %.160s%.160s\n    second checker: %s", name, e.out,
                 e.err, verdict == CK_VALID ? "valid" : why);
    c->counts->mutants++;
    c->counts->accepted_mutants += verdict == CK_VALID;
    cam_ended_fini(&e);
    free(graph_path);
    free(path);
}

static void change_plan(struct cam_case *c, const char *graph_name, const char *name,
                        const json_t *graph, json_t *plan) {
    uint32_t ticket = (uint32_t)rp_rng_below(&c->r, 100);
    uint32_t n = cam_between(&c->r, 1, 3);
    if (ticket < 70) {
        while (n-- > 0)
            cam_change_steps(&c->r, graph, plan);
        cam_repair(c, graph_name, name, plan);
        if (ticket < 10)
            cam_change_fields(&c->r, plan);
    } else if (ticket < 85) {
        cam_change_fields(&c->r, plan);
    } else {
        cam_change_anything(&c->r, plan);
    }
}

static void judge_graph(struct cam_case *c, const char *name, const char *plan) {
    struct cam_ended e;
    char why[256] = "", *path = cam_path(c, name);
    verify(c, name, plan, &e);
    bool good = ck_check_graph(path, why);
    if ((e.code != 3) != good)
        cam_fail(c, "%s: verify says: %.160s%.160s\n    second checker: %s", name, e.out,
                 e.err, good ? "good" : why);
    c->counts->mutants++;
    cam_ended_fini(&e);
    free(path);
}

static void mutate_all(struct cam_case *c, const struct cam_subject *s,
                       const char *plan_name) {
    json_t *graph = load(c, s->name), *plan = load(c, plan_name);
    for (int k = 0; k < MUTANTS && !c->failed; k++) {
        bool of_plan = rp_rng_percent(&c->r, 80);
        json_t *o = json_deep_copy(of_plan ? plan : graph);
        if (of_plan) {
            change_plan(c, s->name, "mutant.json", graph, o);
            dump(c, "mutant.json", o);
            judge_plan(c, s->name, "mutant.json");
        } else {
            cam_change_anything(&c->r, o);
            dump(c, "mutant-graph.json", o);
            judge_graph(c, "mutant-graph.json", plan_name);
        }
        json_decref(o);
    }
    json_decref(graph);
    json_decref(plan);
}

void cam_case_mutants(struct cam_case *c) {
    struct cam_subject s;
    struct cam_answer a = {.found = false};
    struct cam_wish wish = {.min_ops = 1,
                            .max_ops = rp_rng_percent(&c->r, 70) ? 6 : 25,
                            .for_brute_force = rp_rng_percent(&c->r, 40),
                            .version_2 = c->o->version_2};
    cam_new_subject(c, "g.json", &wish, &s);
    for (int k = 0; k < 3 && s.solvable && !a.found; k++) {
        struct cam_line line = {.n = 0};
        cam_draw_solve(c, &s, "p.json", NULL, &line);
        cam_solve(c, &s, "p.json", &line, &a);
    }
    if (a.found)
        mutate_all(c, &s, "p.json");
}
