#include "cases.h"
#include "homes.h"
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

static void dump(struct cam_case *c, const char *name, const json_t *o) {
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

static bool judge_plan(struct cam_case *c, const char *graph, const char *name) {
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
    return verdict == CK_VALID;
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

static void mutate_all(struct cam_case *c, const char *graph_name, const char *plan_name) {
    json_t *graph = load(c, graph_name), *plan = load(c, plan_name);
    for (int k = 0; k < MUTANTS && !c->failed; k++) {
        bool of_plan = rp_rng_percent(&c->r, 80);
        json_t *o = json_deep_copy(of_plan ? plan : graph);
        if (of_plan) {
            change_plan(c, graph_name, "mutant.json", graph, o);
            dump(c, "mutant.json", o);
            judge_plan(c, graph_name, "mutant.json");
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

static bool plan(struct cam_case *c, const struct cam_subject *s, const char *name) {
    struct cam_answer a = {.found = false};
    for (int k = 0; k < 3 && s->solvable && !a.found; k++) {
        struct cam_line line = {.n = 0};
        cam_draw_solve(c, s, name, NULL, &line);
        cam_solve(c, s, name, &line, &a);
    }
    return a.found;
}

/* Solves the graph of `s` without its homes, and moves them. */
static bool plan_with_homes(struct cam_case *c, const struct cam_subject *s) {
    struct cam_subject without = {.name = "without.json", .graph = s->graph};
    without.graph.lives_on_host = without.graph.may_live_there = false;
    json_t *graph = load(c, s->name), *bare = json_deep_copy(graph);
    cam_drop_homes(bare);
    dump(c, without.name, bare);
    cam_measure(c, &without);
    bool found = plan(c, &without, "p0.json");
    json_t *moved = found ? load(c, "p0.json") : NULL;
    if (found) {
        cam_move_homes(c, s->name, graph, moved);
        cam_repair(c, s->name, "p.json", moved);
        dump(c, "p.json", moved);
    }
    json_decref(moved);
    json_decref(bare);
    json_decref(graph);
    return found;
}

/* A valid plan is judged with all its figures, and shown. */
static void check_whole(struct cam_case *c, const char *graph, const char *name) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    struct ck_figures f;
    cam_judge(c, graph, name, &f);
    cam_begin(c, &line, "show");
    cam_word(&line, "%s", graph);
    cam_word(&line, "%s", name);
    cam_word(&line, rp_rng_percent(&c->r, 50) ? "--steps" : "--json");
    cam_command(c, &line, &e);
    if (e.code != 0)
        cam_fail(c, "show: exit code %d: %.200s", e.code, e.err);
    cam_ended_fini(&e);
}

void cam_case_mutants(struct cam_case *c) {
    struct cam_subject s;
    struct cam_wish wish = {.min_ops = 1,
                            .max_ops = rp_rng_percent(&c->r, 70) ? 6 : 25,
                            .for_brute_force = rp_rng_percent(&c->r, 40),
                            .homes = rp_rng_percent(&c->r, 50)};
    cam_new_subject(c, "g.json", &wish, &s);
    bool found = wish.homes ? plan_with_homes(c, &s) : plan(c, &s, "p.json");
    if (!found)
        return;
    if (wish.homes && judge_plan(c, s.name, "p.json"))
        check_whole(c, s.name, "p.json");
    mutate_all(c, s.name, "p.json");
}
