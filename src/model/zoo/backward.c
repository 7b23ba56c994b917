#include "model/zoo/backward.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
    uint32_t *n; /* gradients added so far */
};

static struct rp_val total_loss(struct rp_builder *b) {
    struct rp_val sum = b->losses.at[0];
    for (size_t i = 1; i < b->losses.n; i++) {
        char *name = i == 1 ? rp_strdup("loss_sum") : rp_format("loss_sum%zu", i);
        sum = rp_emit1(b, (struct rp_spec){.kind = "add", .name = name, .flops = 1},
                       rp_like(sum), RP_IN(sum, b->losses.at[i]));
        free(name);
    }
    return sum;
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
    char *name = s->n[x] == 2 ? rp_format("%s.grad_sum", t->name)
                              : rp_format("%s.grad_sum%u", t->name, s->n[x] - 1);
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

/* attrs.of names the parameter, and the gradient has its shape. */
static void keep_gradient(struct rp_builder *b, const struct rp_val *param,
                          const struct rp_val *grad) {
    const struct rp_tensor *p = &b->g->tensors[param->tensor];
    if (grad->tensor == RP_NONE) {
        rp_builder_fail(b, RP_BUG, "parameter '%s' gets no gradient", p->name);
        return;
    }
    struct rp_tensor *t = &b->g->tensors[grad->tensor];
    assert(t->n_dims == p->n_dims && t->attrs == NULL &&
           memcmp(t->shape, p->shape, p->n_dims * sizeof *p->shape) == 0);
    t->attrs = json_pack("{s:s}", "of", p->name);
    rp_keep(b, *grad);
}

void rp_differentiate(struct rp_builder *b) {
    if (b->rc != RP_OK)
        return;
    assert(b->losses.n > 0 && b->scope[0] == '\0');
    struct rp_val loss = total_loss(b);
    uint32_t n_forward = b->g->n_tensors;
    struct sums s = {rp_calloc(n_forward, sizeof *s.grad),
                     rp_calloc(n_forward, sizeof *s.n)};
    for (uint32_t x = 0; x < n_forward; x++)
        s.grad[x] = RP_NO_VALUE;
    b->loss = loss.tensor;
    b->phase = RP_BACKWARD;
    rp_keep(b, loss);
    for (size_t i = b->nodes.n; i-- > 0 && b->rc == RP_OK;)
        reverse_node(b, &b->nodes.at[i], &s);
    for (size_t i = 0; i < b->params.n && b->rc == RP_OK; i++)
        keep_gradient(b, &b->params.at[i], &s.grad[b->params.at[i].tensor]);
    free(s.grad);
    free(s.n);
}
