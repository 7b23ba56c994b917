#include "model/zoo/backward.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/zoo/optimizer.h"

static const struct rp_rule *find_rule(const char *kind) {
    const struct rp_rule *const tables[] = {rp_rules_basic, rp_rules_seq};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct rp_rule *r = tables[i]; r->kind != NULL; r++)
            if (strcmp(r->kind, kind) == 0)
                return r;
    return NULL;
}

/* ---- the reverse pass ---- */

struct sums { /* of gradients, per tensor of the forward pass */
    struct rp_val *grad;
    uint32_t *n;    /* gradients added so far */
    uint32_t *open; /* ops that read the tensor and have not been visited yet */
};

/* Adds up the losses, those of earlier micro-batches first. */
static void total_loss(struct rp_builder *b) {
    size_t n = 0;
    for (size_t i = 0; i < b->losses.n; i++) {
        struct rp_val part = b->losses.at[i];
        if (b->loss.tensor == RP_NONE) {
            b->loss = part;
            continue;
        }
        char *name = ++n == 1 ? rp_strdup("loss_sum") : rp_format("loss_sum%zu", n);
        b->loss = rp_emit1(b, (struct rp_spec){.kind = "add", .name = name, .flops = 1},
                           rp_like(part), RP_IN(b->loss, part));
        free(name);
    }
}

/* Adds g, in the shape of the tensor itself, to the gradient of x. */
static void add_gradient(struct rp_builder *b, struct sums *s, uint32_t x,
                         struct rp_val g) {
    const struct rp_tensor *t = &b->g->tensors[x];
    g = rp_view(b, g, t->n_dims, t->shape);
    if (s->n[x]++ == 0) {
        s->grad[x] = g;
        return;
    }
    const char *prefix = t->kind == RP_PARAMETER ? b->prefix : ""; /* others have it */
    char *name = s->n[x] == 2 ? rp_format("%s%s.grad_sum", prefix, t->name)
                              : rp_format("%s%s.grad_sum%u", prefix, t->name, s->n[x] - 1);
    struct rp_spec sp = {.kind = "add", .name = name, .flops = rp_count(&g)};
    if (g.tensor != s->grad[x].tensor) {
        s->grad[x] = rp_emit1(b, sp, rp_like(g), RP_IN(s->grad[x], g));
    } else { /* an op must not read a tensor twice */
        sp.kind = "scale";
        sp.attrs = json_pack("{s:f}", "factor", 2.0);
        s->grad[x] = rp_emit1(b, sp, rp_like(g), RP_IN(g));
    }
    free(name);
}

static void reverse_node(struct rp_builder *b, const struct rp_node *n, struct sums *s) {
    const struct rp_rule *rule = find_rule(rp_kind_of(b, n));
    bool reached = rule != NULL && rule->is_loss && rp_wants_grad(b, &n->out[0]);
    struct rp_val *gy = rp_calloc(n->n_out, sizeof *gy);
    struct rp_val *gx = rp_calloc(n->n_in, sizeof *gx);
    for (uint32_t k = 0; k < n->n_out; k++) {
        gy[k] = s->grad[n->out[k].tensor];
        reached |= gy[k].tensor != RP_NONE && rp_wants_grad(b, &n->out[k]);
    }
    for (uint32_t i = 0; i < n->n_in; i++)
        gx[i] = RP_NO_VALUE;
    if (reached && rule == NULL)
        rp_builder_fail(b, RP_BUG, "no reverse-mode rule for '%s'", rp_kind_of(b, n));
    else if (reached)
        rule->apply(b, n, gy, gx);
    for (uint32_t i = 0; i < n->n_in && b->rc == RP_OK; i++)
        if (gx[i].tensor != RP_NONE && rp_wants_grad(b, &n->in[i]))
            add_gradient(b, s, n->in[i].tensor, gx[i]);
    free(gy);
    free(gx);
}

/* ---- parameters ---- */

/* attrs.of names the parameter, and the gradient has its shape. */
static void note_parameter(struct rp_builder *b, struct rp_val w, struct rp_val g) {
    struct rp_tensor *t = &b->g->tensors[g.tensor];
    assert(rp_same_shape(&w, &g) && t->attrs == NULL);
    t->attrs = json_pack("{s:s}", "of", b->g->tensors[w.tensor].name);
}

/* All of the micro-batch's gradient g of parameter w is there. */
static void finish_gradient(struct rp_builder *b, struct rp_val w, struct rp_val g) {
    if (g.tensor == RP_NONE)
        return;
    note_parameter(b, w, g);
    if (b->o.micro_batches > 1) {
        struct rp_val part = g;
        g = rp_accumulate(b, w, part, b->param_grad[w.tensor]);
        if (b->rc == RP_OK && g.tensor != part.tensor)
            note_parameter(b, w, g);
    }
    b->param_grad[w.tensor] = g;
    if (b->o.optimizer != RP_NO_OPTIMIZER && rp_is_last_micro_batch(b))
        rp_update_parameter(b, w, g);
}

/* After the visit of a node: if no earlier op reads a parameter, its gradient is complete.
 */
static void finish_gradients(struct rp_builder *b, const struct rp_node *n,
                             struct sums *s) {
    for (uint32_t i = 0; i < n->n_in && b->rc == RP_OK; i++) {
        const uint32_t x = n->in[i].tensor;
        const struct rp_tensor *t = &b->g->tensors[x];
        if (--s->open[x] == 0 && t->kind == RP_PARAMETER)
            finish_gradient(b, rp_view(b, n->in[i], t->n_dims, t->shape), s->grad[x]);
    }
}

static void keep_results(struct rp_builder *b) {
    rp_keep(b, b->loss);
    for (size_t i = 0; i < b->params.n && b->rc == RP_OK; i++) {
        const uint32_t w = b->params.at[i].tensor;
        if (b->param_grad[w].tensor == RP_NONE)
            rp_builder_fail(b, RP_BUG, "parameter '%s' gets no gradient",
                            b->g->tensors[w].name);
        else if (b->o.optimizer == RP_NO_OPTIMIZER)
            rp_keep(b, b->param_grad[w]);
    }
}

static struct rp_val *no_values(uint32_t n) {
    struct rp_val *v = rp_calloc(n, sizeof *v);
    for (uint32_t x = 0; x < n; x++)
        v[x] = RP_NO_VALUE;
    return v;
}

static void sums_init(struct sums *s, const struct rp_builder *b) {
    const uint32_t n = b->g->n_tensors;
    *s = (struct sums){no_values(n), rp_calloc(n, sizeof *s->n),
                       rp_calloc(n, sizeof *s->open)};
    for (size_t i = 0; i < b->nodes.n; i++)
        for (uint32_t k = 0; k < b->nodes.at[i].n_in; k++)
            s->open[b->nodes.at[i].in[k].tensor]++;
}

void rp_differentiate(struct rp_builder *b) {
    struct sums s;
    if (b->rc != RP_OK)
        return;
    assert(b->losses.n > 0 && b->scope[0] == '\0');
    total_loss(b);
    if (b->rc != RP_OK)
        return;
    sums_init(&s, b);
    if (b->param_grad == NULL)
        b->param_grad = no_values(b->g->n_tensors);
    b->phase = RP_BACKWARD;
    for (size_t i = b->nodes.n; i-- > 0 && b->rc == RP_OK;) {
        reverse_node(b, &b->nodes.at[i], &s);
        finish_gradients(b, &b->nodes.at[i], &s);
    }
    if (b->rc == RP_OK && rp_is_last_micro_batch(b))
        keep_results(b);
    free(s.grad);
    free(s.n);
    free(s.open);
}
