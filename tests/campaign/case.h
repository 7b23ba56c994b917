/* case: one case of the campaign: its random numbers, its folder, the commands that it has
 * run there, and whether something was wrong. Every kind of case (cases.h) is a function on
 * this.
 *
 * Everything in a case follows from the seed and its number. The folder is removed at the
 * end unless the case failed; then it holds the graphs, plans and outputs, and `commands`
 * with every command line.
 */
#ifndef RP_CAMPAIGN_CASE_H
#define RP_CAMPAIGN_CASE_H

#include <jansson.h>

#include "checker.h"
#include "generator.h"
#include "process.h"

struct cam_options {
    const char *program; /* the absolute path of remat-plan */
    const char *folder;  /* where the folders of cases are made */
    uint64_t seed;
    bool steady;    /* no case depends on a clock */
    bool sanitized; /* the program is slow, so times say nothing */
    bool highs;     /* the program finds HiGHS */
};

struct cam_counts {
    uint64_t commands, plans, mutants, accepted_mutants, bounds, optima, interrupts, emits;
};

struct cam_case {
    const struct cam_options *o;
    struct cam_counts *counts;
    struct rp_rng r;
    uint64_t number;
    const char *kind;
    char *folder;
    bool failed;
    uint32_t n_commands;
    char **expected; /* names that may be in the folder */
    size_t n_expected;
};

/* Prints the line that reproduces this case, once, and what is wrong. Returns false. */
bool cam_fail(struct cam_case *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* NAME inside the folder; the caller frees it. */
char *cam_path(const struct cam_case *c, const char *name);

/* Writes a file there, or draws a graph and writes it. */
void cam_write(struct cam_case *c, const char *name, const char *text);
void cam_write_graph(struct cam_case *c, const char *name, const struct cam_wish *wish,
                     struct cam_graph *g);

/* From now on a file or folder of this name may be there. */
void cam_expect(struct cam_case *c, const char *name);
bool cam_exists(const struct cam_case *c, const char *name);

/* Whether both hold the same, or neither is there. */
bool cam_same_bytes(const struct cam_case *c, const char *one, const char *other);

/* Fails if the file, or a file in or below the folder, is a JSON file that is not whole. */
void cam_check_whole(struct cam_case *c, const char *name);

/* ---- command lines ---- */

struct cam_line {
    char *words[64];
    int n;
    double limit_s; /* the time limit it is given, 0: none */
    int must_exit;  /* with this code; 0: with any */
    int signals[2]; /* sent while it runs */
    double signal_after_s[2];
};

void cam_word(struct cam_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool cam_has(const struct cam_line *line, const char *word);
void cam_line_fini(struct cam_line *line); /* of one that does not run */

/* Runs the line, frees it, and checks what holds for every command: no crash, an exit code
 * that is documented and is not 6, a message with every error, no control characters, no
 * file left that was not expected, no temporary one in a folder, and the time limit. */
void cam_command(struct cam_case *c, struct cam_line *line, struct cam_ended *e);

/* The whole of standard output as one JSON object, or NULL after a failure. */
json_t *cam_json(struct cam_case *c, const struct cam_ended *e);
/* A member of a JSON object, 0 if there is none. */
uint64_t cam_member(const json_t *o, const char *key);

/* ---- plans ---- */

/* Has the plan judged by `verify` with a replay and by the second checker. Both must accept
 * it and agree on every figure. */
bool cam_judge(struct cam_case *c, const char *graph, const char *plan,
               struct ck_figures *f);

#endif
