#include "mutate.h"

#include <stdlib.h>
#include <string.h>

/* ---- steps ---- */

static size_t any_index(struct rp_rng *r, const json_t *array) {
    return rp_rng_below(r, json_array_size(array));
}

static json_t *member(const json_t *o, const char *key) {
    return json_object_get(o, key);
}

static int64_t number(const json_t *o, const char *key) {
    return json_integer_value(member(o, key));
}

static int64_t alignment(const json_t *graph) {
    json_t *unit = member(member(graph, "device"), "alignment_bytes");
    return unit == NULL ? 512 : json_integer_value(unit);
}

static int64_t bytes_of(const json_t *graph, int64_t x) {
    return number(json_array_get(member(graph, "tensors"), (size_t)x), "bytes");
}

static json_t *fresh_room(const json_t *graph, json_t *plan, const char *size,
                          int64_t bytes) {
    int64_t unit = alignment(graph), at = number(plan, size);
    at = (at + unit - 1) / unit * unit;
    if (at > INT64_MAX / 4 || bytes > INT64_MAX / 4)
        return json_integer(0);
    json_object_set_new(plan, size, json_integer(at + (bytes + unit - 1) / unit * unit));
    return json_integer(at);
}

json_t *cam_fresh_address(const json_t *graph, json_t *plan, const char *size, int64_t x) {
    return fresh_room(graph, plan, size, bytes_of(graph, x));
}

static bool addressed(const json_t *plan) {
    return json_is_true(member(plan, "addressed"));
}

json_t *cam_tensor_step(const char *kind, int64_t x) {
    json_t *o = json_object();
    json_object_set_new(o, kind, json_integer(x));
    return o;
}

/* The entry of `homes` for tensor x, or NULL. */
static json_t *home_of(const json_t *plan, int64_t x) {
    json_t *home;
    size_t k;
    json_array_foreach(member(plan, "homes"), k, home) {
        if (number(home, "tensor") == x)
            return home;
    }
    return NULL;
}

json_t *cam_swap_step(const json_t *graph, json_t *plan, bool out, int64_t x) {
    json_t *o = cam_tensor_step(out ? "swap_out" : "swap_in", x), *home = home_of(plan, x);
    if (addressed(plan) && out && home != NULL)
        json_object_set(o, "host_at", member(home, "host_at"));
    else if (addressed(plan))
        json_object_set_new(
            o, out ? "host_at" : "at",
            cam_fresh_address(graph, plan, out ? "host_bytes" : "arena_bytes", x));
    return o;
}

/* Room for the workspace of a run that finds all outputs on the device and leaves them
 * alone; sometimes it is a unit too small. */
static void add_workspace(struct rp_rng *r, const json_t *graph, json_t *plan,
                          const json_t *op, json_t *step) {
    int64_t unit = alignment(graph), room = number(op, "workspace_bytes");
    json_t *x;
    size_t k;
    json_array_foreach(member(op, "outputs"), k, x) {
        int64_t bytes = bytes_of(graph, json_integer_value(x));
        room += bytes > INT64_MAX / 8 ? 0 : (bytes + unit - 1) / unit * unit;
    }
    if (rp_rng_percent(r, 10) && room > unit)
        room -= unit;
    if (room > 0)
        json_object_set_new(step, "workspace_at",
                            fresh_room(graph, plan, "arena_bytes", room));
}

/* Runs the op of the step at `from` again at `to`, with new storage or with none. */
static void run_again(struct rp_rng *r, const json_t *graph, json_t *plan, size_t from,
                      size_t to) {
    json_t *steps = member(plan, "steps");
    json_t *o = json_deep_copy(json_array_get(steps, from)), *at = member(o, "at"), *x;
    json_t *op = json_array_get(member(graph, "ops"), (size_t)number(o, "run"));
    bool none = rp_rng_percent(r, 70);
    size_t k;
    json_array_foreach(member(op, "outputs"), k, x) {
        if (at != NULL)
            json_array_set_new(at, k,
                               none ? json_null()
                                    : cam_fresh_address(graph, plan, "arena_bytes",
                                                        json_integer_value(x)));
    }
    if (addressed(plan) && json_is_false(member(op, "rewrites")))
        add_workspace(r, graph, plan, op, o);
    json_array_insert_new(steps, to, o);
}

/* A tensor that the step at `k` makes or swaps in, or now and then one that lives on the
 * host. -1 if there is none. */
static int64_t tensor_of(struct rp_rng *r, const json_t *graph, const json_t *plan,
                         size_t k) {
    const json_t *step = json_array_get(member(plan, "steps"), k);
    json_t *run = member(step, "run"), *homes = member(plan, "homes");
    if (json_array_size(homes) > 0 && rp_rng_percent(r, 40))
        return number(json_array_get(homes, any_index(r, homes)), "tensor");
    if (member(step, "swap_in") != NULL)
        return number(step, "swap_in");
    if (run == NULL)
        return -1;
    json_t *op = json_array_get(member(graph, "ops"), (size_t)json_integer_value(run));
    json_t *outputs = member(op, "outputs");
    return json_array_size(outputs) == 0
               ? -1
               : json_integer_value(json_array_get(outputs, any_index(r, outputs)));
}

static size_t some_steps_on(struct rp_rng *r, const json_t *steps, size_t k) {
    size_t end = json_array_size(steps);
    k += 1 + rp_rng_below(r, rp_rng_percent(r, 50) ? 1 : 8);
    return k < end ? k : end;
}

/* The tensor leaves the device after it was made, and comes back. */
static void add_excursion(struct rp_rng *r, const json_t *graph, json_t *plan, size_t k) {
    json_t *steps = member(plan, "steps");
    int64_t x = tensor_of(r, graph, plan, k);
    if (x < 0)
        return;
    bool back = member(json_array_get(steps, k), "swap_in") != NULL;
    bool copied = !back && rp_rng_percent(r, 85);
    k = some_steps_on(r, steps, k);
    if (copied)
        json_array_insert_new(steps, k, cam_swap_step(graph, plan, true, x));
    if (rp_rng_percent(r, 20))
        return;
    k = some_steps_on(r, steps, k);
    json_array_insert_new(steps, k, cam_tensor_step("free", x));
    if (rp_rng_percent(r, 10))
        return;
    k = some_steps_on(r, steps, k);
    json_array_insert_new(steps, k, cam_swap_step(graph, plan, false, x));
}

static void move_step(struct rp_rng *r, json_t *steps, size_t from) {
    json_t *o = json_incref(json_array_get(steps, from));
    json_array_remove(steps, from);
    size_t to = rp_rng_percent(r, 60) ? some_steps_on(r, steps, from)
                                      : rp_rng_below(r, json_array_size(steps) + 1);
    if (to > json_array_size(steps))
        to = json_array_size(steps);
    json_array_insert_new(steps, rp_rng_percent(r, 30) && from > 0 ? from - 1 : to, o);
}

void cam_change_steps(struct rp_rng *r, const json_t *graph, json_t *plan) {
    json_t *steps = member(plan, "steps");
    if (json_array_size(steps) == 0)
        return;
    size_t k = any_index(r, steps);
    bool run = member(json_array_get(steps, k), "run") != NULL;
    switch (rp_rng_below(r, 10)) {
    case 0:
        json_array_remove(steps, k);
        break;
    case 1:
        json_array_append(steps, json_array_get(steps, k));
        break;
    case 2:
    case 3:
        if (run)
            run_again(r, graph, plan, k, some_steps_on(r, steps, k));
        break;
    case 4:
    case 5:
    case 6:
        add_excursion(r, graph, plan, k);
        break;
    default:
        move_step(r, steps, k);
    }
}

/* ---- fields ---- */

static void nudge(struct rp_rng *r, json_t *o, const char *key) {
    int64_t v = number(o, key);
    static const int64_t by[] = {1, -1, 512, -512};
    int64_t d = by[rp_rng_below(r, 4)];
    v += d > 0 && v > INT64_MAX - d ? -d : d;
    if (json_is_integer(member(o, key)))
        json_object_set_new(o, key, json_integer(v < 0 ? 0 : v));
}

static void change_claims(struct rp_rng *r, json_t *claims) {
    static const char *const keys[] = {"time_ns",  "baseline_time_ns", "recompute_ns",
                                       "stall_ns", "peak_bytes",       "lower_bound_ns"};
    static const char *const proofs[] = {"optimal", "bounded", "none", "perhaps"};
    size_t k = rp_rng_below(r, 7);
    if (k == 6)
        json_object_set_new(claims, "proof", json_string(proofs[rp_rng_below(r, 4)]));
    else
        nudge(r, claims, keys[k]);
}

static void change_address(struct rp_rng *r, json_t *plan) {
    json_t *steps = member(plan, "steps");
    json_t *o = json_array_get(steps, any_index(r, steps));
    static const char *const keys[] = {"workspace_at", "host_at", "at"};
    json_t *at = member(o, "at");
    if (json_is_array(at) && json_array_size(at) > 0) {
        size_t k = any_index(r, at);
        int64_t v = json_integer_value(json_array_get(at, k));
        json_array_set_new(at, k,
                           rp_rng_percent(r, 30) ? json_null()
                                                 : json_integer(v >= 512 ? v - 512 : 512));
        return;
    }
    nudge(r, o, keys[rp_rng_below(r, 3)]);
}

static void change_array(struct rp_rng *r, json_t *a);

void cam_change_fields(struct rp_rng *r, json_t *plan) {
    static const char *const sizes[] = {"budget_bytes", "arena_bytes", "host_bytes"};
    json_t *homes = member(plan, "homes");
    if (json_array_size(homes) > 0 && rp_rng_percent(r, 25)) {
        change_array(r, homes);
        return;
    }
    switch (rp_rng_below(r, 5)) {
    case 0:
        nudge(r, plan, sizes[rp_rng_below(r, 3)]);
        break;
    case 1:
        json_object_set_new(plan, "addressed", json_boolean(!addressed(plan)));
        break;
    case 2:
        change_claims(r, member(plan, "claims"));
        break;
    default:
        if (json_array_size(member(plan, "steps")) > 0)
            change_address(r, plan);
    }
}

/* ---- anything ---- */

static json_t *odd_value(struct rp_rng *r) {
    switch (rp_rng_below(r, 9)) {
    case 0:
        return json_null();
    case 1:
        return json_true();
    case 2:
        return json_string("any");
    case 3:
        return json_real(1.5);
    case 4:
        return json_integer(-1);
    case 5:
        return json_integer(INT64_MAX);
    case 6:
        return json_array();
    case 7:
        return json_object();
    default:
        return json_integer((json_int_t)rp_rng_below(r, 12));
    }
}

static void change_object(struct rp_rng *r, json_t *o) {
    void *at = json_object_iter(o);
    for (size_t k = rp_rng_below(r, json_object_size(o)); k > 0; k--)
        at = json_object_iter_next(o, at);
    char *key = strdup(json_object_iter_key(at));
    json_t *value = json_object_iter_value(at);
    if (rp_rng_percent(r, 70) && json_is_integer(value) && json_integer_value(value) > 0)
        json_object_set_new(o, key, json_integer(json_integer_value(value) - 1));
    else if (rp_rng_percent(r, 30))
        json_object_del(o, key);
    else if (rp_rng_percent(r, 20))
        json_object_set_new(o, "surprise", odd_value(r));
    else
        json_object_set_new(o, key, odd_value(r));
    free(key);
}

static void change_array(struct rp_rng *r, json_t *a) {
    size_t k = any_index(r, a);
    switch (rp_rng_below(r, 3)) {
    case 0:
        json_array_remove(a, k);
        break;
    case 1:
        json_array_append(a, json_array_get(a, k));
        break;
    default:
        json_array_set_new(a, k, odd_value(r));
    }
}

/* Goes down at random, and changes where it stops. */
void cam_change_anything(struct rp_rng *r, json_t *root) {
    for (;;) {
        json_t *next = NULL;
        if (json_is_array(root) && json_array_size(root) > 0)
            next = json_array_get(root, any_index(r, root));
        else if (json_is_object(root) && json_object_size(root) > 0) {
            void *at = json_object_iter(root);
            for (size_t k = rp_rng_below(r, json_object_size(root)); k > 0; k--)
                at = json_object_iter_next(root, at);
            next = json_object_iter_value(at);
        } else {
            return;
        }
        bool inner = (json_is_array(next) && json_array_size(next) > 0) ||
                     (json_is_object(next) && json_object_size(next) > 0);
        if (inner && !rp_rng_percent(r, 15))
            root = next;
        else
            break;
    }
    if (json_is_array(root))
        change_array(r, root);
    else
        change_object(r, root);
}

/* ---- repair ---- */

static void write_plan(struct cam_case *c, const char *name, const json_t *plan) {
    char *text = json_dumps(plan, JSON_COMPACT);
    cam_write(c, name, text);
    free(text);
}

static void set(json_t *o, const char *key, uint64_t value) {
    json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void set_claims(json_t *claims, const struct ck_figures *f) {
    uint64_t bound = cam_member(claims, "lower_bound_ns");
    if (bound > f->time_ns)
        bound = f->time_ns;
    set(claims, "lower_bound_ns", bound);
    set(claims, "time_ns", f->time_ns);
    set(claims, "baseline_time_ns", f->baseline_time_ns);
    set(claims, "recompute_ns", f->recompute_ns);
    set(claims, "stall_ns", f->stall_ns);
    set(claims, "peak_bytes", f->peak_bytes);
    json_object_set_new(claims, "proof",
                        json_string(bound == f->time_ns           ? "optimal"
                                    : bound > f->baseline_time_ns ? "bounded"
                                                                  : "none"));
}

void cam_repair(struct cam_case *c, const char *graph, const char *name, json_t *plan) {
    struct ck_figures f;
    char why[256] = "", *graph_path = cam_path(c, graph), *path = cam_path(c, name);
    set(plan, "arena_bytes", UINT64_C(1) << 61);
    set(plan, "host_bytes", UINT64_C(1) << 61);
    set(plan, "budget_bytes", INT64_MAX);
    write_plan(c, name, plan);
    ck_check(graph_path, path, &f, why);
    if (f.complete) {
        set(plan, "arena_bytes", f.arena_bytes);
        set(plan, "host_bytes", f.host_bytes);
        set(plan, "budget_bytes", f.fixed_bytes + f.arena_bytes);
        set_claims(member(plan, "claims"), &f);
    }
    free(graph_path);
    free(path);
}
