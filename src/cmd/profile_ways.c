#include "cmd/profile_ways.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "profile/join/names.h"

static const struct {
    const char *way, *text;
} ways[] = {{"implicit_gemm", "by implicit_gemm"},
            {"parts", "in parts of the batch"},
            {"direct", "by a slow kernel of our own"}};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

static const char *plural(size_t n) {
    return n == 1 ? "" : "s";
}

/* The ops of one way. *why is the reason of the first. */
static json_t *names_of(const struct rp_graph *g, const json_t *slower, const char *way,
                        struct rp_name_list *list, const char **why) {
    json_t *names = json_array();
    for (size_t k = 0; k < json_array_size(slower); k++) {
        const json_t *row = json_array_get(slower, k);
        const char *own = json_string_value(json_object_get(row, "way"));
        const json_int_t op = json_integer_value(json_object_get(row, "op"));
        if (own == NULL || strcmp(own, way) != 0 || op < 0 || op >= (json_int_t)g->n_ops)
            continue;
        if (list->n == 0)
            *why = json_string_value(json_object_get(row, "why"));
        rp_push(list, g->ops[op].name);
        json_array_append_new(names, json_string(g->ops[op].name));
    }
    return names;
}

json_t *rp_ways_warn(const struct rp_graph *g, const json_t *slower) {
    json_t *all = json_object();
    for (size_t i = 0; i < N_WAYS; i++) {
        struct rp_name_list list = {0};
        const char *why = NULL;
        json_t *names = names_of(g, slower, ways[i].way, &list, &why);
        if (list.n > 0) {
            char *text = rp_name_list_text(&list, 3, NULL);
            rp_log(0, "warning: %zu convolution%s run%s %s: %s (%s)",
                   json_array_size(names), plural(json_array_size(names)),
                   json_array_size(names) == 1 ? "s" : "", ways[i].text, text,
                   why != NULL ? why : "no reason given");
            free(text);
            json_object_set(all, ways[i].way, names);
        }
        json_decref(names);
        free(list.at);
    }
    if (json_object_size(all) > 0)
        return all;
    json_decref(all);
    return NULL;
}

static size_t count(const struct rp_graph *g, const char *way) {
    const json_t *profile = json_object_get(g->notes, "profile");
    return json_array_size(json_object_get(json_object_get(profile, "slower"), way));
}

void rp_ways_print(const struct rp_graph *g, FILE *f) {
    const char *between = "slower    ";
    for (size_t i = 0; i < N_WAYS; i++) {
        const size_t n = count(g, ways[i].way);
        if (n == 0)
            continue;
        fprintf(f, "%s%zu convolution%s %s", between, n, plural(n), ways[i].text);
        between = ", ";
    }
    if (between[0] == ',')
        fputc('\n', f);
}

void rp_ways_write(struct rp_json_writer *w, const struct rp_graph *g) {
    bool any = false;
    for (size_t i = 0; i < N_WAYS; i++)
        any = any || count(g, ways[i].way) > 0;
    if (!any)
        return;
    rp_json_object(w, "slower_convolutions");
    for (size_t i = 0; i < N_WAYS; i++)
        rp_json_uint(w, ways[i].way, count(g, ways[i].way));
    rp_json_end(w);
}
