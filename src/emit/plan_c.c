#include "emit/plan_c.h"

#include <inttypes.h>

#include "kernels/args_literal.h"

/* Writes a string literal. No byte of `s` can end it or form a trigraph. */
static void put_string(FILE *f, const char *s) {
    fputc('"', f);
    for (; *s != '\0'; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\' || c == '?')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            fprintf(f, "\\%03o", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

static void put_u32s(FILE *f, const char *name, const uint32_t *at, size_t n) {
    fprintf(f, "static const uint32_t %s[] = {", name);
    for (size_t k = 0; k < n; k++)
        fprintf(f, "%s%" PRIu32 ",", k % 16 == 0 ? "\n" : "", at[k]);
    fputs(n == 0 ? "0};\n" : "\n};\n", f);
}

static void put_addresses(FILE *f, const char *name, const uint64_t *at, size_t n) {
    fprintf(f, "static const uint64_t %s[] = {", name);
    for (size_t k = 0; k < n; k++) {
        fputs(k % 8 == 0 ? "\n" : "", f);
        if (at[k] == REPLAY_NOWHERE)
            fputs("SOURCE,", f);
        else
            fprintf(f, "%" PRIu64 "u,", at[k]);
    }
    fputs(n == 0 ? "0};\n" : "\n};\n", f);
}

/* ---- tensors and ops ---- */

static void put_tensors(FILE *f, const struct replay_program *p) {
    fputs("/* name, bytes, what a source is filled with */\n"
          "static const struct replay_tensor tensors[] = {\n",
          f);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        const struct replay_tensor *t = &p->tensors[x];
        fputc('{', f);
        put_string(f, t->name);
        if (t->fill == REPLAY_NO_FILL)
            fprintf(f, ", %" PRIu64 "u, REPLAY_NO_FILL},\n", t->bytes);
        else
            fprintf(f, ", %" PRIu64 "u, %" PRIu32 "},\n", t->bytes, t->fill);
    }
    fputs("{\"\", 0, REPLAY_NO_FILL}};\n\n", f);
}

static void put_fills(FILE *f, const struct rp_replay_tables *t) {
    static const char *const word[] = {"RP_ELEMENT_F32", "RP_ELEMENT_F16",
                                       "RP_ELEMENT_BF16", "RP_ELEMENT_F64",
                                       "RP_ELEMENT_I32"};
    fputs(
        "/* type, elements, seed, low, high */\nstatic const struct rp_fill fills[] = {\n",
        f);
    for (size_t k = 0; k < t->fills.n; k++) {
        const struct rp_fill *fill = &t->fills.at[k];
        fprintf(f, "{%s, %" PRIu64 "u, %" PRIu64 "u, %a, %a},\n", word[fill->element],
                fill->count, fill->seed, fill->low, fill->high);
    }
    fputs("{RP_ELEMENT_F32, 0, 0, 0, 0}};\n\n", f);
}

static void put_ops(FILE *f, const struct rp_replay_tables *t, enum rp_target target) {
    const struct replay_program *p = &t->program;
    char name[32];
    for (uint32_t i = 0; i < p->n_ops; i++) {
        snprintf(name, sizeof name, "a%" PRIu32, i);
        rp_args_literal_write(&t->kernels[i], name, f);
    }
    fprintf(f,
            "\n#define REAL_f32 RP_REAL32\n#define REAL_f16 RP_REAL16\n"
            "#define REAL_bf16 RP_REAL_BF16\n"
            "#define OP(name, kernel, type, args, ends, n_in, n_out, workspace, ns) \\\n"
            "    {name, #kernel, REAL_##type, (void (*)(void))%s##kernel##_##type, \\\n"
            "     &args, ends, n_in, n_out, workspace, ns}\n",
            target == RP_TARGET_C ? "rp_ref_" : "rp_cuda_");
    fputs("static const struct replay_op ops[] = {\n", f);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const struct replay_op *op = &p->ops[i];
        fputs("OP(", f);
        put_string(f, op->name);
        fprintf(f,
                ", %s, %s, a%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu64
                "u, %" PRIu64 "u),\n",
                t->kernels[i].name, rp_real_word[t->kernels[i].real], i, op->ends, op->n_in,
                op->n_out, op->workspace_bytes, op->time_ns);
    }
    fputs("};\n\n", f);
}

/* ---- schedules ---- */

static void put_address(FILE *f, uint64_t at) {
    if (at == REPLAY_NOWHERE)
        fputs(", 0", f);
    else
        fprintf(f, ", %" PRIu64 "u", at);
}

static void put_steps(FILE *f, const char *name, const struct replay_schedule *s) {
    static const char *const word[] = {"RUN", "FREE", "SWAP_OUT", "SWAP_IN"};
    fprintf(f, "static const struct replay_step %s_steps[] = {\n", name);
    for (uint32_t k = 0; k < s->n_steps; k++) {
        const struct replay_step *step = &s->steps[k];
        fprintf(f, "%s(%" PRIu32, word[step->what], step->id);
        if (step->what == REPLAY_RUN)
            fprintf(f, ", %" PRIu32, step->where);
        put_address(f, step->at);
        if (step->what == REPLAY_SWAP_OUT || step->what == REPLAY_SWAP_IN)
            put_address(f, step->host_at);
        fprintf(f, ", %" PRIu32 ", %u, %d),\n", step->waits, (unsigned)step->n_waits,
                step->awaited);
    }
    fputs("};\n\n", f);
}

static void put_homes(FILE *f, const char *name, const struct replay_schedule *s) {
    if (s->n_homes == 0)
        return;
    fprintf(f,
            "/* tensor, address in the slab */\nstatic const struct replay_home %s_homes[] "
            "= {\n",
            name);
    for (uint32_t k = 0; k < s->n_homes; k++)
        fprintf(f, "{%" PRIu32 ", %" PRIu64 "u},\n", s->homes[k].tensor,
                s->homes[k].host_at);
    fputs("};\n", f);
}

static void put_schedule(FILE *f, const char *name, const struct rp_schedule_tables *t,
                         const struct replay_schedule *s, uint32_t n_keep) {
    char array[64];
    if (s->n_steps == 0)
        return;
    put_steps(f, name, s);
    snprintf(array, sizeof array, "%s_addresses", name);
    put_addresses(f, array, s->addresses, t->addresses.n);
    snprintf(array, sizeof array, "%s_waits", name);
    put_u32s(f, array, s->waits, t->waits.n);
    snprintf(array, sizeof array, "%s_kept_at", name);
    put_addresses(f, array, s->kept_at, n_keep);
    put_homes(f, name, s);
    fputc('\n', f);
}

static const char step_macros[] =
    "/* op, where its addresses begin, workspace; then for all: waits, how many, awaited "
    "*/\n"
    "#define SOURCE REPLAY_NOWHERE\n"
    "#define RUN(op, where, workspace, waits, n, awaited) \\\n"
    "    {REPLAY_RUN, awaited, n, op, where, waits, workspace, 0}\n"
    "/* tensor, address on the device, address in the slab */\n"
    "#define FREE(x, at, waits, n, awaited) {REPLAY_FREE, awaited, n, x, 0, waits, at, 0}\n"
    "#define SWAP_OUT(x, at, host, waits, n, awaited) \\\n"
    "    {REPLAY_SWAP_OUT, awaited, n, x, 0, waits, at, host}\n"
    "#define SWAP_IN(x, at, host, waits, n, awaited) \\\n"
    "    {REPLAY_SWAP_IN, awaited, n, x, 0, waits, at, host}\n\n";

static void put_totals(FILE *f, const struct replay_program *p) {
    fputs("extern const struct replay_program program;\n"
          "const struct replay_program program = {\n    ",
          f);
    put_string(f, p->name);
    fprintf(f,
            ", tensors, ops, ends, fills, keep, %" PRIu32 ", %" PRIu32 ", %" PRIu32
            ",\n    /* fixed bytes; predicted: time, without rematerialization, stall */\n"
            "    %" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u,\n",
            p->n_tensors, p->n_ops, p->n_keep, p->fixed_bytes, p->time_ns, p->baseline_ns,
            p->stall_ns);
    const struct replay_schedule *schedule[] = {&p->plan, &p->keep_all};
    static const char *const name[] = {"plan", "keep_all"};
    for (int k = 0; k < 2; k++)
        if (schedule[k]->n_steps == 0)
            fputs("    {0},\n", f);
        else
            fprintf(f,
                    "    {%" PRIu64 "u, %" PRIu64 "u, %s_steps, %" PRIu32
                    ", %s_addresses, %s_waits, %s_kept_at, %s%s, %" PRIu32 "},\n",
                    schedule[k]->arena_bytes, schedule[k]->host_bytes, name[k],
                    schedule[k]->n_steps, name[k], name[k], name[k],
                    schedule[k]->n_homes > 0 ? name[k] : "",
                    schedule[k]->n_homes > 0 ? "_homes" : "0", schedule[k]->n_homes);
    fputs("};\n", f);
}

void rp_plan_c_write(const struct rp_replay_tables *t, enum rp_target target, FILE *f) {
    const struct replay_program *p = &t->program;
    fprintf(f,
            "/* SPDX-License-Identifier: MIT\n *\n"
            " * The plan, and the step without rematerialization: tables of replay.h. */\n"
            "#include \"%s\"\n#include \"replay.h\"\n\n",
            target == RP_TARGET_C ? "kernels/ref.h" : "kernels/cuda/cuda.h");
    put_tensors(f, p);
    put_fills(f, t);
    put_u32s(f, "ends", p->ends, t->ends.n);
    put_u32s(f, "keep", p->keep, p->n_keep);
    fputc('\n', f);
    put_ops(f, t, target);
    fputs(step_macros, f);
    put_schedule(f, "plan", &t->plan, &p->plan, p->n_keep);
    put_schedule(f, "keep_all", &t->keep_all, &p->keep_all, p->n_keep);
    put_totals(f, p);
}
