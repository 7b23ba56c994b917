/* SPDX-License-Identifier: MIT */
#include "remat/remat.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remat/read.h"
#include "remat/remat_internal.h"
#include "remat/step_order.h"

/* All of a file; NULL with *error filled. */
static char *read_file(const char *path, size_t *len, struct remat_error *error) {
    REMAT_VEC(char) text = {0};
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        remat_fail(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    size_t got = 1;
    bool good = true;
    while (good && got > 0) {
        if (text.n == text.cap)
            good = remat_grow((void **)&text.at, &text.cap, sizeof *text.at);
        got = good ? fread(text.at + text.n, 1, text.cap - text.n, f) : 0;
        text.n += got;
    }
    if (!good || ferror(f)) {
        remat_fail(error, "%s: %s", path, strerror(good ? errno : ENOMEM));
        free(text.at);
        text.at = NULL;
    }
    fclose(f);
    *len = text.n;
    return text.at;
}

remat *remat_parse(const char *graph, size_t graph_len, const char *plan, size_t plan_len,
                   struct remat_error *error) {
    remat *r = calloc(1, sizeof *r);
    if (error != NULL)
        error->text[0] = '\0';
    if (r == NULL)
        remat_fail(error, "no memory");
    else if (remat_read(r, graph, graph_len, plan, plan_len, error) &&
             remat_order(r, error))
        return r;
    remat_close(r);
    return NULL;
}

/* Messages of remat_parse begin with "graph:" or "plan:". Replaces that word by the file's
 * path, or by the end of a long path so that the rest of the message fits in. */
static bool name_file(struct remat_error *error, const char *word, const char *path) {
    enum { MAX_LEN = 200 };
    const size_t n = strlen(word), len = strlen(path);
    struct remat_error copy;
    if (error == NULL || strncmp(error->text, word, n) != 0 || error->text[n] != ':')
        return false;
    copy = *error;
    error->text[0] = '\0';
    remat_fail(error, "%s%s", len > MAX_LEN ? path + len - MAX_LEN : path, copy.text + n);
    return true;
}

remat *remat_load(const char *graph_path, const char *plan_path,
                  struct remat_error *error) {
    size_t graph_len = 0, plan_len = 0;
    remat *r = NULL;
    if (error != NULL)
        error->text[0] = '\0';
    char *graph = read_file(graph_path, &graph_len, error);
    char *plan = graph != NULL ? read_file(plan_path, &plan_len, error) : NULL;
    if (plan != NULL &&
        (r = remat_parse(graph, graph_len, plan, plan_len, error)) == NULL &&
        !name_file(error, "graph", graph_path))
        name_file(error, "plan", plan_path);
    free(graph);
    free(plan);
    return r;
}

void remat_close(remat *r) {
    if (r == NULL)
        return;
    free(r->tensors);
    free(r->ops);
    free(r->op_details);
    free(r->tensor_details);
    free(r->keep);
    free(r->steps);
    free(r->ends.at);
    free(r->addresses.at);
    free(r->step_addresses);
    free(r->step_operands);
    free(r->step_waits);
    free(r->operands.at);
    free(r->waits.at);
    json_decref(r->graph);
    json_decref(r->plan);
    free(r);
}

const struct remat_totals *remat_totals(const remat *r) {
    return &r->totals;
}

const struct remat_tensor *remat_tensor(const remat *r, uint32_t tensor) {
    return tensor < r->totals.n_tensors ? &r->tensors[tensor] : NULL;
}

const struct remat_op *remat_op(const remat *r, uint32_t op) {
    return op < r->totals.n_ops ? &r->ops[op] : NULL;
}

const uint32_t *remat_keep(const remat *r) {
    return r->keep;
}

const struct remat_step *remat_step(const remat *r, size_t number) {
    return number < r->totals.n_steps ? &r->steps[number] : NULL;
}

int remat_walk(const remat *r, const struct remat_calls *calls, void *user) {
    int (*const call[])(void *, const struct remat_step *) = {
        calls->run, calls->free, calls->swap_out, calls->swap_in};
    int rc = 0;
    for (size_t k = 0; k < r->totals.n_steps && rc == 0; k++)
        if (call[r->steps[k].what] != NULL)
            rc = call[r->steps[k].what](user, &r->steps[k]);
    return rc;
}
