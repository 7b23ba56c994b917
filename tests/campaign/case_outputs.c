/* What is made of plans, and the packer by itself: show, emit, pack. */
#include "cases.h"
#include "planning.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- show ---- */

static void show(struct cam_case *c, const char *graph, const char *plan,
                 const char *option) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    cam_begin(c, &line, "show");
    cam_word(&line, "%s", graph);
    cam_word(&line, "%s", plan);
    if (option != NULL)
        cam_word(&line, "%s", option);
    cam_command(c, &line, &e);
    if (e.code != 0)
        cam_fail(c, "show: exit code %d: %.200s", e.code, e.err);
    if (option != NULL && strcmp(option, "--json") == 0 && e.code == 0)
        json_decref(cam_json(c, &e));
    cam_ended_fini(&e);
}

static void check_picture(struct cam_case *c, const char *name) {
    char *path = cam_path(c, name), tail[8] = "";
    FILE *f = fopen(path, "r");
    if (f == NULL || fseek(f, -7, SEEK_END) != 0 || fread(tail, 1, 7, f) != 7 ||
        strcmp(tail, "</svg>\n") != 0)
        cam_fail(c, "show: %s is no whole picture", name);
    if (f != NULL)
        fclose(f);
    free(path);
}

void cam_case_show(struct cam_case *c) {
    struct cam_subject s;
    struct cam_answer a = {.found = false};
    struct cam_line line = {.n = 0};
    struct cam_wish wish = cam_draw_wish(c);
    cam_new_subject(c, "g.json", &wish, &s);
    if (!s.solvable)
        return;
    cam_draw_solve(c, &s, "p.json", NULL, &line);
    cam_solve(c, &s, "p.json", &line, &a);
    if (!a.found)
        return;
    char width[32];
    snprintf(width, sizeof width, "--width=%u", cam_between(&c->r, 40, 300));
    cam_expect(c, "p.svg");
    show(c, s.name, "p.json", NULL);
    show(c, s.name, "p.json", "--json");
    show(c, s.name, "p.json", "--steps");
    show(c, s.name, "p.json", width);
    show(c, s.name, "p.json", "--svg=p.svg");
    check_picture(c, "p.svg");
}

/* ---- emit ---- */

/* Makes and runs the program; it compares the plan with the step bit for bit. */
static void run_program(struct cam_case *c) {
    char *command = rp_format("cd '%s' && make -C program -s >make.log 2>&1 && "
                              "program/replay >run.log 2>&1",
                              c->folder);
    cam_expect(c, "make.log");
    cam_expect(c, "run.log");
    if (system(command) != 0)
        cam_fail(c, "emit: the program does not agree with the step");
    c->counts->emits++;
    free(command);
}

/* How the step ends, and where its parameters live. */
static void draw_training(struct cam_case *c, struct cam_line *line) {
    static const char *const optimizers[] = {"none", "sgd", "momentum", "adam", "adamw"};
    static const char *const types[] = {"f32", "f16", "bf16"};
    static const char *const places[] = {"device", "host", "any"};
    cam_word(line, "--optimizer=%s", optimizers[rp_rng_below(&c->r, 5)]);
    cam_word(line, "--dtype=%s", types[rp_rng_below(&c->r, 3)]);
    cam_word(line, "--state-home=%s", places[rp_rng_below(&c->r, 3)]);
    if (rp_rng_percent(&c->r, 30))
        cam_word(line, "--param-home=%s", places[rp_rng_below(&c->r, 3)]);
    if (rp_rng_percent(&c->r, 30))
        cam_word(line, "--micro-batches=2");
}

static bool network_graph(struct cam_case *c) {
    static const char *const networks[] = {"vgg16",        "resnet18",   "unet",
                                           "bert-base",    "gpt2",       "lstm-lm",
                                           "mobilenet_v2", "densenet121"};
    struct cam_line zoo = {.n = 0}, profile = {.n = 0};
    struct cam_ended e, e2;
    cam_begin(c, &zoo, "zoo");
    cam_word(&zoo, "%s", networks[rp_rng_below(&c->r, 8)]);
    cam_word(&zoo, "--tiny");
    if (rp_rng_percent(&c->r, 60))
        draw_training(c, &zoo);
    cam_word(&zoo, "-oz.json");
    cam_begin(c, &profile, "profile");
    cam_word(&profile, "z.json");
    cam_word(&profile, "--device=v100-16g");
    cam_word(&profile, "-og.json");
    cam_expect(c, "z.json");
    cam_expect(c, "g.json");
    cam_command(c, &zoo, &e);
    cam_command(c, &profile, &e2);
    bool good = e.code == 0 && e2.code == 0;
    cam_ended_fini(&e);
    cam_ended_fini(&e2);
    return good || cam_fail(c, "no graph of a network");
}

static void check_by_reference(struct cam_case *c) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    cam_begin(c, &line, "verify");
    cam_word(&line, "g.json");
    cam_word(&line, "p.json");
    cam_word(&line, "--replay=ref");
    cam_command(c, &line, &e);
    if (e.code != 0)
        cam_fail(c, "verify --replay ref: exit code %d: %.200s", e.code, e.out);
    cam_ended_fini(&e);
}

void cam_case_emit(struct cam_case *c) {
    struct cam_subject s = {.name = "g.json", .graph.swappable = true};
    struct cam_answer a;
    struct cam_line line = {.n = 0}, emit = {.n = 0};
    struct cam_ended e;
    if (!network_graph(c))
        return;
    cam_begin(c, &line, "solve");
    cam_word(&line, "g.json");
    cam_word(&line, "--json");
    cam_word(&line, "-op.json");
    cam_word(&line, "-b%u%%", cam_between(&c->r, 85, 100));
    cam_draw_limit(c, &line, 0.1, 0.4);
    cam_solve(c, &s, "p.json", &line, &a);
    if (!a.found)
        return;
    check_by_reference(c);
    cam_begin(c, &emit, "emit");
    cam_word(&emit, "g.json");
    cam_word(&emit, "p.json");
    cam_word(&emit, "--target=c");
    cam_word(&emit, "-oprogram");
    cam_word(&emit, "--json");
    cam_expect(c, "program");
    cam_command(c, &emit, &e);
    if (e.code != 0)
        cam_fail(c, "emit: exit code %d: %.200s", e.code, e.err);
    else
        json_decref(cam_json(c, &e));
    if (e.code == 0 && !c->o->steady)
        run_program(c);
    cam_ended_fini(&e);
}

/* ---- pack ---- */

enum { BUFFERS = 60 };

struct buffer {
    uint64_t lower, upper, size, offset;
};

static void write_buffers(struct cam_case *c, struct buffer *b, int n) {
    char *text;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    bool wide = rp_rng_percent(&c->r, 30);
    fputs("id,lower,upper,size\n", f);
    for (int k = 0; k < n; k++) {
        b[k].lower = rp_rng_below(&c->r, 40);
        b[k].upper = b[k].lower + 1 + rp_rng_below(&c->r, 15);
        b[k].size = wide ? cam_log_uniform(&c->r, 40) : 1 + rp_rng_below(&c->r, 9);
        fprintf(f, "b%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", k, b[k].lower, b[k].upper,
                b[k].size);
    }
    fclose(f);
    cam_write(c, "b.csv", text);
    free(text);
}

static bool read_offsets(const struct cam_case *c, struct buffer *b, int n) {
    char *path = cam_path(c, "o.csv"), row[256];
    FILE *f = fopen(path, "r");
    bool good = f != NULL && fgets(row, sizeof row, f) != NULL;
    for (int k = 0; good && k < n; k++) {
        uint64_t size;
        good = fscanf(f, "%*[^,],%*u,%*u,%" SCNu64 ",%" SCNu64 "\n", &size, &b[k].offset) ==
                   2 &&
               size == b[k].size;
    }
    if (f != NULL)
        fclose(f);
    free(path);
    return good;
}

static void check_offsets(struct cam_case *c, const struct buffer *b, int n,
                          uint64_t alignment, uint64_t arena) {
    for (int k = 0; k < n; k++) {
        if (b[k].offset % alignment != 0 || b[k].offset + b[k].size > arena)
            cam_fail(c, "pack: b%d is not aligned or beyond the arena", k);
        for (int i = 0; i < k; i++)
            if (b[k].lower < b[i].upper && b[i].lower < b[k].upper &&
                b[k].offset < b[i].offset + b[i].size &&
                b[i].offset < b[k].offset + b[k].size)
                cam_fail(c, "pack: b%d and b%d overlap", i, k);
    }
}

void cam_case_pack(struct cam_case *c) {
    struct buffer b[BUFFERS];
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    int n = (int)cam_between(&c->r, 1, BUFFERS);
    unsigned alignment = 1u << rp_rng_below(&c->r, 10);
    write_buffers(c, b, n);
    cam_begin(c, &line, "pack");
    cam_word(&line, "b.csv");
    cam_word(&line, "--json");
    cam_word(&line, "-oo.csv");
    cam_word(&line, "--alignment=%u", alignment);
    cam_word(&line, "--work-limit=%u", cam_between(&c->r, 0, 3000000));
    uint64_t capacity = rp_rng_percent(&c->r, 30) ? cam_log_uniform(&c->r, 12) : 0;
    if (capacity > 0)
        cam_word(&line, "--capacity=%" PRIu64, capacity);
    cam_expect(c, "o.csv");
    cam_command(c, &line, &e);
    json_t *o = e.code <= 1 ? cam_json(c, &e) : NULL;
    uint64_t arena = cam_member(o, "arena_bytes");
    if (o == NULL)
        cam_fail(c, "pack: exit code %d: %.200s", e.code, e.err);
    else if (capacity > 0 && (arena > capacity) != (e.code == 1))
        cam_fail(c, "pack: exit code %d for %" PRIu64 " of %" PRIu64, e.code, arena,
                 capacity);
    if (o != NULL && cam_exists(c, "o.csv")) {
        if (!read_offsets(c, b, n))
            cam_fail(c, "pack: o.csv is not the buffers with offsets");
        else
            check_offsets(c, b, n, alignment, arena);
    } else if (e.code == 0) {
        cam_fail(c, "pack: o.csv was not written");
    }
    json_decref(o);
    cam_ended_fini(&e);
}
