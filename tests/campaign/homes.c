#include "homes.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/sha256.h"
#include "mutate.h"

void cam_drop_homes(json_t *graph) {
    json_t *tensor;
    size_t x;
    json_array_foreach(json_object_get(graph, "tensors"), x, tensor) {
        json_object_del(tensor, "home");
    }
}

static bool names(const json_t *op, const char *list, size_t x) {
    json_t *entry;
    size_t k;
    json_array_foreach(json_object_get(op, list), k, entry) {
        if (json_integer_value(entry) == (json_int_t)x)
            return true;
    }
    return false;
}

/* The places of the steps that use a source; `end` of them all if there are none. */
struct uses {
    size_t first, last, last_update, end;
    bool updated;
};

static struct uses uses_of(const json_t *graph, const json_t *steps, size_t x) {
    struct uses u = {.end = json_array_size(steps)};
    json_t *step;
    size_t k;
    u.first = u.last = u.end;
    json_array_foreach(steps, k, step) {
        json_t *run = json_object_get(step, "run");
        if (run == NULL)
            continue;
        const json_t *op =
            json_array_get(json_object_get(graph, "ops"), (size_t)json_integer_value(run));
        bool updates = names(op, "updates", x);
        if (!updates && !names(op, "inputs", x))
            continue;
        u.first = u.first == u.end ? k : u.first;
        u.last = k;
        u.last_update = updates ? k : u.last_update;
        u.updated = u.updated || updates;
    }
    return u;
}

static size_t between(struct rp_rng *r, size_t low, size_t high) {
    return low + rp_rng_below(r, high - low + 1);
}

/* Inserts from the end, so that the places of the uses stay right. */
static void add_steps(struct rp_rng *r, const json_t *graph, json_t *plan, size_t x) {
    json_t *steps = json_object_get(plan, "steps");
    struct uses u = uses_of(graph, steps, x);
    bool kept = names(graph, "keep", x), used = u.first < u.end;
    if (!used && !kept)
        return;
    size_t in = between(r, 0, u.first), out = 0;
    size_t leave = used ? between(r, u.last + 1, u.end) : u.end;
    if (u.updated) {
        out = between(r, u.last_update + 1, u.end);
        leave = leave < out ? out : leave;
    }
    if (!kept && rp_rng_percent(r, 80))
        json_array_insert_new(steps, leave, cam_tensor_step("free", (int64_t)x));
    if (u.updated)
        json_array_insert_new(steps, out, cam_swap_step(graph, plan, true, (int64_t)x));
    json_array_insert_new(steps, in, cam_swap_step(graph, plan, false, (int64_t)x));
}

static void add_home(const json_t *graph, json_t *plan, size_t x) {
    json_t *home = json_object();
    json_object_set_new(home, "tensor", json_integer((json_int_t)x));
    if (json_is_true(json_object_get(plan, "addressed")))
        json_object_set_new(home, "host_at",
                            cam_fresh_address(graph, plan, "host_bytes", (int64_t)x));
    json_array_append_new(json_object_get(plan, "homes"), home);
}

static void set_sha256(const struct cam_case *c, const char *name, json_t *plan) {
    struct rp_err ignored = {{0}};
    char *path = cam_path(c, name), *text, hex[65];
    size_t n;
    if (rp_read_file(path, &text, &n, &ignored) != RP_OK)
        abort();
    rp_sha256_hex(text, n, hex);
    json_object_set_new(json_object_get(plan, "graph"), "sha256", json_string(hex));
    free(text);
    free(path);
}

void cam_move_homes(struct cam_case *c, const char *name, const json_t *graph,
                    json_t *plan) {
    json_t *tensor;
    size_t x;
    json_object_set_new(plan, "homes", json_array());
    json_array_foreach(json_object_get(graph, "tensors"), x, tensor) {
        const char *home = json_string_value(json_object_get(tensor, "home"));
        if (home == NULL || strcmp(home, "device") == 0)
            continue;
        if (strcmp(home, "any") == 0 && rp_rng_percent(&c->r, 50))
            continue;
        add_home(graph, plan, x);
        add_steps(&c->r, graph, plan, x);
    }
    set_sha256(c, name, plan);
}
