/* SPDX-License-Identifier: MIT */
#include "expected.h"

#include "program.h"

uint32_t replay_usual_steps(const struct replay_program *p) {
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (uint32_t k = p->ops[i].n_in; k < p->ops[i].n_in + p->ops[i].n_out; k++)
            if (is_source(p, p->ends[p->ops[i].ends + k]))
                return 2;
    return 1;
}

/* ---- the step without rematerialization ---- */

struct reference {
    const struct replay_program *p;
    struct replay_expected *t;
    void **at;             /* per tensor: its storage, or NULL */
    const void **operands; /* of the op that runs */
    uint32_t *last;        /* per tensor: the last op with this operand */
};

static bool reference_init(struct reference *r) {
    const struct replay_program *p = r->p;
    r->at = calloc(p->n_tensors + (size_t)1, sizeof *r->at);
    r->last = calloc(p->n_tensors + (size_t)1, sizeof *r->last);
    r->operands = calloc(max_operands(p), sizeof *r->operands);
    if (r->at == NULL || r->last == NULL || r->operands == NULL)
        return false;
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (uint32_t k = 0; k < p->ops[i].n_in + p->ops[i].n_out; k++)
            r->last[p->ends[p->ops[i].ends + k]] = i;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        if (!is_source(p, x))
            continue;
        r->at[x] = allocate(p->tensors[x].bytes);
        if (r->at[x] == NULL)
            return false;
        fill_source(p, x, r->at[x]);
        r->t->left[x] = checksum(p, x, r->at[x]);
    }
    return true;
}

static void reference_fini(struct reference *r) {
    for (uint32_t x = 0; r->at != NULL && x < r->p->n_tensors; x++)
        free(r->at[x]);
    free(r->at);
    free(r->last);
    free(r->operands);
}

static bool allocate_outputs(struct reference *r, const struct replay_op *op) {
    for (uint32_t k = op->n_in; k < op->n_in + op->n_out; k++) {
        const uint32_t x = r->p->ends[op->ends + k];
        if (is_source(r->p, x))
            continue;
        r->at[x] = allocate(r->p->tensors[x].bytes);
        if (r->at[x] == NULL)
            return false;
    }
    return true;
}

/* After its last op a tensor is not needed in this step. */
static void free_unneeded(struct reference *r, uint32_t i) {
    const struct replay_op *op = &r->p->ops[i];
    for (uint32_t k = 0; k < op->n_in + op->n_out; k++) {
        const uint32_t x = r->p->ends[op->ends + k];
        if (r->last[x] == i && !is_source(r->p, x)) {
            free(r->at[x]);
            r->at[x] = NULL;
        }
    }
}

static bool run_once(struct reference *r, uint32_t i, uint64_t *made, uint64_t *left) {
    const struct replay_op *op = &r->p->ops[i];
    const uint32_t *ends = &r->p->ends[op->ends];
    if (!allocate_outputs(r, op))
        return false;
    for (uint32_t k = 0; k < op->n_in + op->n_out; k++)
        r->operands[k] = r->at[ends[k]];
    const uint64_t before = now_ns();
    call(op, r->operands, (void *const *)(const void *)(r->operands + op->n_in));
    r->t->time_ns += now_ns() - before;
    for (uint32_t k = op->n_in; k < op->n_in + op->n_out; k++)
        made[op->ends + k] = left[ends[k]] = checksum(r->p, ends[k], r->at[ends[k]]);
    free_unneeded(r, i);
    return true;
}

static bool run_each_once(struct reference *r) {
    const struct replay_program *p = r->p;
    uint64_t *made = r->t->made, *left = r->t->left;
    for (uint32_t step = 0; step < r->t->n_steps; step++) {
        for (uint32_t i = 0; i < p->n_ops; i++)
            if (!run_once(r, i, made, left))
                return false;
        made += n_ends(p);
        left += p->n_tensors;
        if (step + 1 < r->t->n_steps)
            memcpy(left, left - p->n_tensors, p->n_tensors * sizeof *left);
    }
    r->t->time_ns /= r->t->n_steps;
    return true;
}

bool replay_expected_build(const struct replay_program *p, uint32_t n_steps,
                           struct replay_expected *t) {
    struct reference r = {.p = p, .t = t};
    const size_t n = n_steps;
    *t = (struct replay_expected){n_steps, calloc(n * n_ends(p) + 1, sizeof *t->made),
                                  calloc(n * p->n_tensors + 1, sizeof *t->left), 0};
    const bool good =
        t->made != NULL && t->left != NULL && reference_init(&r) && run_each_once(&r);
    reference_fini(&r);
    return good;
}

void replay_expected_fini(struct replay_expected *t) {
    free(t->made);
    free(t->left);
    *t = (struct replay_expected){0, NULL, NULL, 0};
}
