#include "cmd/sweep_jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers.h"
#include "cmd/sweep_budgets.h"

/* Quotes a path for a shell. One that begins with '-' would be taken for an option. */
static void print_quoted(const char *text) {
    fputs(text[0] == '-' ? "'./" : "'", stdout);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

/* This program as it was called: by its path, or by its name if it is in PATH. */
static void print_program(void) {
    if (strchr(program_invocation_name, '/') != NULL)
        print_quoted(program_invocation_name);
    else
        fputs("remat-plan", stdout);
}

/* The sweep of n graphs, without the end of the line. */
static void print_sweep(const struct rp_sweep *s, const struct rp_sweep_graph *graphs,
                        size_t n) {
    print_program();
    fputs(" sweep", stdout);
    for (size_t i = 0; i < n; i++) {
        putchar(' ');
        print_quoted(graphs[i].path);
    }
    fputs(" -o ", stdout);
    print_quoted(s->dir);
    printf("%s%s", s->limits, s->settings);
}

void rp_sweep_print_jobs(const struct rp_sweep *s) {
    for (size_t i = 0; i < s->n_graphs; i++)
        for (size_t j = 0; j < s->graphs[i].points.n; j++) {
            const struct rp_point *p = &s->graphs[i].points.at[j];
            if (p->state != RP_NOT_PLANNED)
                continue;
            print_sweep(s, &s->graphs[i], 1);
            printf(" --share %" PRIu32 "/%" PRIu64 "\n", p->index, rp_sweep_round_size(s));
        }
}

/* The most elements of an array that Slurm takes by default (MaxArraySize, slurm.conf). */
enum { MAX_ARRAY = 1000 };

void rp_sweep_print_slurm(const struct rp_sweep *s) {
    uint64_t n = rp_min_u64(MAX_ARRAY, rp_sweep_round_size(s) * s->n_graphs);
    bool given = s->graphs[0].given.n > 0;
    puts("#!/bin/sh\n"
         "# Submits the sweep. What follows the script's name goes to sbatch:\n"
         "# sh FILE --partition=NAME --cpus-per-task=2\n"
         "set -e\n"
         "after=");
    fputs("for round in 1", stdout);
    for (int round = 2; round <= RP_SWEEP_ROUNDS && !given; round++)
        printf(" %d", round);
    puts("; do");
    printf("    job=$(sbatch --parsable --job-name=sweep --array=0-%" PRIu64 " --output ",
           n - 1);
    print_quoted(s->dir);
    fputs("/slurm-%A_%a.log $after \"$@\" <<'END'\n#!/bin/sh\n", stdout);
    print_sweep(s, s->graphs, s->n_graphs);
    printf(" --share $SLURM_ARRAY_TASK_ID/%" PRIu64 "\nEND\n)\n", n);
    puts("    after=--dependency=afterany:${job%%;*}\n"
         "done");
    fputs("sbatch --parsable --job-name=sweep-merge --output ", stdout);
    print_quoted(s->dir);
    fputs("/slurm-%j.log $after \"$@\" <<'END'\n#!/bin/sh\n", stdout);
    print_sweep(s, s->graphs, s->n_graphs);
    printf("%s%s --merge\nEND\n", s->no_seconds ? " --no-seconds" : "",
           s->html ? " --html" : "");
}
