/* solution_reader: what readers of solution files have in common (solution_file.h): one
 * line after the other as words, and values of columns by name or number.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_EXCHANGE_SOLUTION_READER_H
#define RP_SOLVE_EXCHANGE_SOLUTION_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/status.h"

/* Further words of a line are left out. */
enum { RP_SOLUTION_WORDS = 16 };

struct rp_solution_name {
    const char *name;
    uint32_t col;
};

/* One file, of which line after line is taken. */
struct rp_solution_reader {
    char *rest; /* NULL at the end */
    const char *path;
    size_t line;
    char *word[RP_SOLUTION_WORDS]; /* of the line that was taken last */
    int n_words;
    uint32_t n_cols, n_seen;
    struct rp_solution_name *named; /* by name */
    bool *seen;
    double *x;
    struct rp_err *err;
};

/* `rest`, `path`, `n_cols`, `x` and `err` are set, and stay the caller's, as do the names.
 * All of x becomes 0. */
void rp_solution_reader_init(struct rp_solution_reader *r, char *const *names);
void rp_solution_reader_fini(struct rp_solution_reader *r);

/* RP_INPUT: "file:line: rule". The rule is freed. */
rp_rc rp_solution_fail(struct rp_solution_reader *r, char *rule);
#define RP_SOLUTION_FAIL(r, ...) rp_solution_fail(r, rp_format(__VA_ARGS__))
rp_rc rp_solution_none(struct rp_solution_reader *r); /* there is no solution in the file */

/* Take the next line: as it is, cut into words, or the next one with words. NULL or false
 * at the end. */
char *rp_solution_raw_line(struct rp_solution_reader *r);
bool rp_solution_line(struct rp_solution_reader *r);
bool rp_solution_words(struct rp_solution_reader *r);

/* Is there such a word k? */
bool rp_solution_word(const struct rp_solution_reader *r, int k, const char *text);

/* Sets a column, which must not be set before, to a number. The column ONE, which models
 * have for their constant, may have any. */
rp_rc rp_solution_set(struct rp_solution_reader *r, uint32_t col, const char *name,
                      const char *number);
rp_rc rp_solution_set_named(struct rp_solution_reader *r, const char *name,
                            const char *number);
rp_rc rp_solution_number(struct rp_solution_reader *r, const char *text, double *v);
bool rp_solution_has_column(const struct rp_solution_reader *r, const char *name);
void rp_solution_forget(struct rp_solution_reader *r); /* all that was set */
rp_rc rp_solution_all_seen(struct rp_solution_reader *r);

/* Word k, or "". */
const char *rp_solution_word_at(const struct rp_solution_reader *r, int k);

#endif
