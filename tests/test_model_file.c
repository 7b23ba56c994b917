/* Tests of programs as files, and of the solution files of other solvers. Those under
 * tests/data/solution were written by the programs that their names say, for the program
 * below; only gurobi.sol was written by hand, as its manual says. */
#include "solve/exchange/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "run.h"
#include "solve/exchange/solution_file.h"
#include "solve/lp/row_set.h"

/* The optimum is a = 1, b = 0, c = 1, n = 2, w = 2.5: 7 + 3 + 2 + 4 + 5 = 21. */
static char *col_names[] = {"a_1", "b_1", "c_with_a_long_name", "n_1", "w_1"};
static const double optimum[] = {1, 0, 1, 2, 2.5};
static void build(struct rp_named_milp *m) {
    static const double cost[] = {3, 4, 2, 2, 2}, low[] = {0, 0, 0, 1, -1};
    static const double high[] = {1, 1, 1, 3, HUGE_VAL};
    *m = (struct rp_named_milp){.p.fixed = 7, .title = strdup("One line.\nAnd another.\n")};
    for (uint32_t j = 0; j < 5; j++)
        rp_named_col(m, cost[j], low[j], high[j], j < 4, strdup(col_names[j]));
    rp_named_row(m, 3, 3, strdup("choose"));
    rp_named_term(m, 1, RP_COL_ONE); /* so that 2 are left */
    for (uint32_t j = 0; j < 3; j++)
        rp_named_term(m, 1, j);
    rp_named_row(m, -HUGE_VAL, 0.5, strdup("same"));
    rp_named_term(m, 1, RP_COL_ZERO);
    rp_named_term(m, 1, 1);
    rp_named_term(m, -0.25, 3);
    rp_named_row(m, 2.5, 10, strdup("range"));
    rp_named_term(m, 1, 4);
    rp_named_row(m, 1.75, HUGE_VAL, strdup("at_least"));
    rp_named_term(m, 1, 3);
}

static void write_both(struct rp_named_milp *m, char **mps, char **lp) {
    size_t len;
    FILE *f = rp_text_open(mps, &len);
    rp_write_mps(m, f);
    rp_text_close(f);
    f = rp_text_open(lp, &len);
    rp_write_lp(m, f);
    rp_text_close(f);
    rp_named_milp_fini(m);
}

static const char mps_text[] = "* One line.\n"
                               "* And another.\n"
                               "NAME remat_plan\n"
                               "ROWS\n"
                               " N cost\n"
                               " E choose\n"
                               " L same\n"
                               " L range\n"
                               " G at_least\n"
                               "COLUMNS\n"
                               " MARKER 'MARKER' 'INTORG'\n"
                               " a_1 cost 3\n"
                               " a_1 choose 1\n"
                               " b_1 cost 4\n"
                               " b_1 choose 1\n"
                               " b_1 same 1\n"
                               " c_with_a_long_name cost 2\n"
                               " c_with_a_long_name choose 1\n"
                               " n_1 cost 2\n"
                               " n_1 same -0.25\n"
                               " n_1 at_least 1\n"
                               " MARKER 'MARKER' 'INTEND'\n"
                               " w_1 cost 2\n"
                               " w_1 range 1\n"
                               " ONE cost 7\n"
                               "RHS\n"
                               " RHS choose 2\n"
                               " RHS same 0.5\n"
                               " RHS range 10\n"
                               " RHS at_least 1.75\n"
                               "RANGES\n"
                               " RNG range 7.5\n"
                               "BOUNDS\n"
                               " UP BND a_1 1\n"
                               " UP BND b_1 1\n"
                               " UP BND c_with_a_long_name 1\n"
                               " LO BND n_1 1\n"
                               " UP BND n_1 3\n"
                               " LO BND w_1 -1\n"
                               " FX BND ONE 1\n"
                               "ENDATA\n";
static const char lp_text[] = "\\ One line.\n"
                              "\\ And another.\n"
                              "Minimize\n"
                              " cost: + 3 a_1 + 4 b_1 + 2 c_with_a_long_name\n"
                              "  + 2 n_1 + 2 w_1 + 7 ONE\n"
                              "Subject To\n"
                              " choose: + 1 a_1 + 1 b_1 + 1 c_with_a_long_name = 2\n"
                              " same: + 1 b_1 - 0.25 n_1 <= 0.5\n"
                              " range: + 1 w_1 <= 10\n"
                              " range_low: + 1 w_1 >= 2.5\n"
                              " at_least: + 1 n_1 >= 1.75\n"
                              "Bounds\n"
                              " 0 <= a_1 <= 1\n"
                              " 0 <= b_1 <= 1\n"
                              " 0 <= c_with_a_long_name <= 1\n"
                              " 1 <= n_1 <= 3\n"
                              " -1 <= w_1\n"
                              " ONE = 1\n"
                              "Generals\n"
                              " a_1 b_1 c_with_a_long_name n_1\n"
                              "End\n";

static void a_program_is_written_as_mps_and_lp(void) {
    struct rp_named_milp m;
    char *mps, *lp;
    build(&m);
    write_both(&m, &mps, &lp);
    CU_ASSERT_STRING_EQUAL(mps, mps_text);
    CU_ASSERT_STRING_EQUAL(lp, lp_text);
    free(mps);
    free(lp);
}

/* A column that is free, an integer as the last one, and a row without terms. */
static void rare_parts_are_written(void) {
    struct rp_named_milp m = {.title = strdup("")};
    char *mps, *lp;
    rp_named_col(&m, 1, -HUGE_VAL, HUGE_VAL, false, strdup("free"));
    rp_named_col(&m, 2, 0, 1, true, strdup("last"));
    rp_named_row(&m, -HUGE_VAL, 4, strdup("empty"));
    write_both(&m, &mps, &lp);
    CU_ASSERT_PTR_NOT_NULL(strstr(mps, " free cost 1\n"
                                       " MARKER 'MARKER' 'INTORG'\n"
                                       " last cost 2\n"
                                       " MARKER 'MARKER' 'INTEND'\n"
                                       " ONE cost 0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(mps, "BOUNDS\n"
                                       " MI BND free\n"
                                       " UP BND last 1\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(lp, "Subject To\n"
                                      " empty: 0 ONE <= 4\n"
                                      "Bounds\n"
                                      " -inf <= free\n"
                                      " 0 <= last <= 1\n"));
    free(mps);
    free(lp);
}

static rp_rc parse(const char *text, double *x, const char **writer, struct rp_err *err) {
    char *copy = strdup(text);
    *err = (struct rp_err){{0}};
    rp_rc rc = rp_solution_parse(copy, "f.sol", 5, col_names, x, writer, err);
    free(copy);
    return rc;
}

static void solution_files_of_each_program_are_read(void) {
    static const char *const files[][2] = {{"glpsol-w", "glpsol"}, {"glpsol-o", "glpsol"},
                                           {"highs", "HiGHS"},     {"cbc", "CBC"},
                                           {"gurobi", "Gurobi"},   {"scip", "SCIP"}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        struct rp_err err = {{0}};
        const char *writer = "";
        char path[100];
        double x[5];
        snprintf(path, sizeof path, "tests/data/solution/%s.sol", files[k][0]);
        CU_ASSERT_EQUAL(rp_solution_load(path, 5, col_names, x, &writer, &err), RP_OK);
        CU_ASSERT_STRING_EQUAL(err.msg, "");
        CU_ASSERT_STRING_EQUAL(writer, files[k][1]);
        CU_ASSERT(memcmp(x, optimum, sizeof x) == 0);
    }
}

/* Each value to its last bit. */
static void a_point_that_is_written_is_read_again(void) {
    static const double point[] = {1, 0, 1.0 / 3, 3, 1e15};
    struct rp_err err;
    const char *writer;
    double x[5];
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_solution_write(5, col_names, point, 0.1, f);
    rp_text_close(f);
    CU_ASSERT_EQUAL(parse(text, x, &writer, &err), RP_OK);
    CU_ASSERT(memcmp(x, point, sizeof x) == 0);
    /* HiGHS looks for this line after five, one word and two, and then for all columns. */
    const char *at = text;
    for (int k = 0; k < 6; k++)
        at = strchr(at, '\n') + 1;
    CU_ASSERT_STRING_EQUAL(at, "# Columns 6\na_1 1\nb_1 0\n"
                               "c_with_a_long_name 0.33333333333333331\n"
                               "n_1 3\nw_1 1000000000000000\nONE 1\n");
    /* SCIP needs two words in each line. */
    for (at = text; *at != '\0'; at = strchr(at, '\n') + 1)
        CU_ASSERT(strcspn(at, " ") < strcspn(at, "\n"));
    free(text);
}

static void columns_that_are_left_out_are_zero(void) {
    struct rp_err err;
    const char *writer;
    double x[5] = {9, 9, 9, 9, 9};
    CU_ASSERT_EQUAL(
        parse("Stopped on time - objective value 3\n** 0 n_1 2 0\n", x, &writer, &err),
        RP_OK);
    CU_ASSERT(x[3] == 2 && x[0] == 0 && x[4] == 0);
    CU_ASSERT_EQUAL(
        parse("solution status: time limit\nobjective value: 1\na_1 1\n", x, &writer, &err),
        RP_OK);
    CU_ASSERT(x[0] == 1 && x[3] == 0);
}

/* optimum is 1, 0, 1, 2, 2.5. */
static void other_dialects_are_read(void) {
    static const char *const good[][2] = {
        {"HiGHS", "Model status\nOptimal\n\n# Primal solution values\nFeasible\n"
                  "Objective 1\n# Columns -5\na_1 1 0\nc_with_a_long_name 1 2\nn_1 2 3\n"
                  "w_1 2.5 4\nONE 1 5\n# Rows 1\nr 1\n"},
        {"HiGHS", "Columns\n    Index Status  Lower Upper Primal Dual Type Name\n"
                  "0 0 1 1 Integer a_1\n1 0 1 0 Integer b_1\n"
                  "2 0 inf 1 Continuous c_with_a_long_name\n3 BS 0 9 2 0 Integer n_1\n"
                  "4 -inf inf 2.5 0 Continuous w_1\n5 1 1 1 Continuous ONE\n"
                  "Rows\n Index Status Lower Upper Primal Dual Name\n0 0 1 1 r\n"},
        {"CBC", "Optimal (within gap tolerance) - objective value 1\n0 a_1 1 0\n"
                "2 c_with_a_long_name 1 0\n** 3 n_1 2 0\n4 w_1 2.5 0\n5 ONE 1 0\n"},
        {"Clp", "optimal\nObjective value 1\n0 a_1 1 0\n2 c_with_a_long_name 1 0\n"
                "3 n_1 2 0\n4 w_1 2.5 0\n"},
        {"CBC", "Optimal\n0 a_1 1 0\n2 c_with_a_long_name 1 0\n3 n_1 2 0\n4 w_1 2.5 0\n"},
        {"CBC", "Stopped on time - objective value 1\n0 row 1 0\n1 b_1 9 0\n"
                "0 a_1 1 0\n1 b_1 0 0\n2 c_with_a_long_name 1 0\n3 n_1 2 0\n"
                "4 w_1 2.5 0\n"},
        {"glpsol", "2 6\n5 1\n8\n9\n1\n0\n1\n2\n2.5\n1\n"},
        {"HiGHS", "# Primal solution values\nFeasible\nObjective 1\n# Columns 5\na_1 1\n"
                  "b_1 0\nc_with_a_long_name 1\nn_1 2\nw_1 2.5\n# Rows 0\n"},
        {"Gurobi", "\xef\xbb\xbfn_1 2\na_1 1\nw_1 2.5\nc_with_a_long_name 1\nb_1 0\n"},
        {"SCIP", "\nprimal solution (original space):\n=====\n\nobjective value: 1\n"
                 "a_1 1\nc_with_a_long_name 1\nn_1 2\nw_1 2.5\n"},
        {"CPLEX", "<?xml version='1.0'?><CPLEXSolution><variables>"
                  "<variable index = \"0\" value = \"1\" name\t=\"a_1\"/>"
                  "<variable name=\"b_1\" value=\"0\"/><variable name=\"n_1\" value='2'/>"
                  "<variable name=\"c_with_a_long_name\" value=\"1\"/>"
                  "<variable name=\"w_1\" value=\"2.5\"/></variables></CPLEXSolution>"},
        {"Gurobi", "# Solution for model m\n# Objective value = 1\na_1 1\nb_1 0\n# more\n"
                   "c_with_a_long_name 1\nn_1 2\nw_1 2.5\nONE 1\n"},
        {"SCIP", "objective value: 1\n# a comment\na_1 1 \t(obj:0)\n"
                 "c_with_a_long_name 1\t(obj:2)\nn_1 2 (obj:3)\nw_1 2.5 (obj:0)\n"},
        {"CPLEX", "<?xml version = \"1.0\"?>\n<CPLEXSolution version=\"1.2\">\n <header\n"
                  "   problemName=\"m\"\n/>\n <variables>\n"
                  "  <variable name=\"a_1\" index=\"0\" value=\"1\"/>\n"
                  "  <variable value='0' name='b_1'/><variable name=\"n_1\" value=\"2\"/>\n"
                  "  <variable name=\"c_with_a_long_name\" index=\"2\" value=\"1\"/>\n"
                  "  <variable name=\"w_1\" index=\"4\" value=\"2.5\"/>\n </variables>\n"
                  "</CPLEXSolution>\n<variables>\n<variable name=\"a_1\" value=\"0\"/>\n"},
        {"Xpress", "NAME m solution\n C a_1 1\n C b_1 0\n C c_with_a_long_name 1\n"
                   " C n_1 2\n C w_1 2.5\nENDATA\n"},
        {"lp_solve", "\nValue of objective function: 1\n\nActual values of the variables:\n"
                     "a_1 0\n\nActual values of the variables:\na_1 1 b_1 0\n"
                     "c_with_a_long_name 1\nn_1 2\nw_1 2.5\n\n"
                     "Actual values of the constraints:\nr 1\n"},
    };
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        struct rp_err err;
        const char *writer = "";
        double x[5] = {9, 9, 9, 9, 9};
        CU_ASSERT_EQUAL(parse(good[k][1], x, &writer, &err), RP_OK);
        CU_ASSERT_STRING_EQUAL(err.msg, "");
        CU_ASSERT_STRING_EQUAL(writer, good[k][0]);
        CU_ASSERT(memcmp(x, optimum, sizeof x) == 0);
        if (err.msg[0] != '\0')
            printf("%s: %s\n", good[k][0], err.msg);
    }
}

static void words_behind_what_is_asked_for_are_skipped(void) {
    struct rp_err err;
    const char *writer;
    double x[5];
    CU_ASSERT_EQUAL(parse("s mip 4 6 o 1\nj 1 1\nj 2 0\nj 3 1\nj 4 2\nj 5 2.5\n"
                          "e o f\nj 9 1\n",
                          x, &writer, &err),
                    RP_OK);
    CU_ASSERT(memcmp(x, optimum, sizeof x) == 0);
    CU_ASSERT_EQUAL(parse("solution status: optimal\nobjective value: 1\n"
                          "a_1 1 a b c d e f g h i j k l m n o p q r s t u v w x y z\n",
                          x, &writer, &err),
                    RP_OK);
    CU_ASSERT(x[0] == 1 && x[1] == 0);
}

static void bad_solution_files_are_refused(void) {
    static const char *const bad[][2] = {
        {"", "f.sol:1: the file is empty"},
        {"hello\n",
         "f.sol:1: this is no solution file of glpsol, HiGHS, CBC, Clp, Gurobi, SCIP, "
         "CPLEX, Xpress or lp_solve"},
        {"# Objective value = 1\nq 1\n", "f.sol:2: the model has no column 'q'"},
        {"# Objective value = 1\na_1 1\na_1 1\n", "f.sol:3: column 'a_1' comes twice"},
        {"# Objective value = 1\na_1 one\n", "f.sol:2: 'one' is not a number"},
        {"# Objective value = 1\na_1\n", "f.sol:2: '' is not a number"},
        {"# Objective value = 1\na_1 inf\n", "f.sol:2: 'inf' is not a number"},
        {"# Objective value = 1\na_1 1\n", "f.sol:3: the file has no column 'b_1'"},
        {"Infeasible - objective value 0\n", "f.sol:1: the file holds no solution"},
        {"Optimal - objective value 0\n a_1 1\n",
         "f.sol:2: this line is not: number, name, value, cost"},
        {"solution status: infeasible\nno solution available\n",
         "f.sol:2: the file holds no solution"},
        {"s bas 4 6 f f 1\n", "f.sol:1: this is no solution of a mixed-integer program"},
        {"s mip 4 6 n 1\n", "f.sol:1: the file holds no solution"},
        {"s mip 4 6 o 1\nj 9 1\n", "f.sol:2: the model has no column 9"},
        {"s mip 4 6 o 1\nj 1 1\n", "f.sol:3: the file has no column 'b_1'"},
        {"Model status\nInfeasible\n# Primal solution values\nNone\n",
         "f.sol:4: the file holds no solution"},
        {"Problem: x\nStatus: INTEGER UNDEFINED\n", "f.sol:2: the file holds no solution"},
        {"Problem: x\nStatus: OPTIMAL\n",
         "f.sol:2: this is no solution of a mixed-integer program"},
        {"Stopped on time (no integer solution - continuous used) - objective value 1\n"
         "0 a_1 1 0\n",
         "f.sol:1: the file holds no integer solution, only that of the relaxation"},
        {"Unbounded - objective value 0\n", "f.sol:1: the file holds no solution"},
        {"Integer infeasible - objective value 0\n", "f.sol:1: the file holds no solution"},
        {"infeasible\nObjective value 0\n", "f.sol:1: the file holds no solution"},
        {"Infeasible\n0 a_1 1 0\n", "f.sol:1: the file holds no solution"},
        {"Optimal\n0 a_1 1 0\n1 q 1 0\n2 n_1 2 0\n",
         "f.sol:3: the model has no column 'q'"},
        {"Optimal\n0 r 1 0\n0 a_1 1 0\n1 q 1 0\n", "f.sol:4: the model has no column 'q'"},
        {"Optimal\n0 r 1 0\n0 q 1 0\n1 a_1 1 0\n", "f.sol:3: the model has no column 'q'"},
        {"Optimal\none a_1 1 0\n", "f.sol:2: 'one' is not a number"},
        {"2 4\n5 1\n", "f.sol:1: 4 columns, not 5"},
        {"0 5\n4 1\n1\n0\n1\n2\n2.5\n", "f.sol:2: the file holds no solution"},
        {"0 5\n5 5 1\n1\n0\n1\n2\n2.5\n",
         "f.sol:2: this is no solution of a mixed-integer program"},
        {"0 5\n5 1\n1\n0\n1\n2\n", "f.sol:7: the file has no column 'w_1'"},
        {"primal solution (original space):\n", "f.sol:2: the file holds no solution"},
        {"optimal\na_1 1\n", "f.sol:2: this line is not: Objective value"},
        {"Model status\nOptimal\n# Primal solution values\nFeasible\n# Columns -2\n"
         "a_1 1 0\n# Rows 0\n",
         "f.sol:7: 1 columns, not 2"},
        {"Model status\nOptimal\n# Primal solution values\nFeasible\n# Columns 1\n"
         "a_1 1\n# Rows 0\n",
         "f.sol:7: the file has no column 'b_1'"},
        {"Columns\n Index Lower Upper Primal\n", "f.sol:2: the table has no column 'Name'"},
        {"Columns\n Index Lower Upper Name\n 0 0 1 a_1\n",
         "f.sol:3: the file holds no solution"},
        {"<?xml?>\n<variable name=\"a_1\"/>\n</variables>\n",
         "f.sol:2: a variable without a name and a value"},
        {"<?xml?>\n<variable name=\"a_1\"\n",
         "f.sol:2: this variable ends on another line"},
        {"<?xml?>\n<variable name=\"a_1\" value=\"1\"/>\n",
         "f.sol:3: the variables do not end"},
        {"<?xml?>\n</variables>\n", "f.sol:2: the file has no column 'a_1'"},
        {"NAME m\n C a_1 1\n", "f.sol:3: the file ends without ENDATA"},
        {"NAME m\n C a_1 1\nENDATA\n", "f.sol:3: the file has no column 'b_1'"},
        {"\nThis problem is infeasible\n", "f.sol:2: the file holds no solution"},
        {"Value of objective function: 0\n\nActual values of the variables:\na_1 1\n\n",
         "f.sol:6: the file has no column 'b_1'"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct rp_err err;
        const char *writer;
        double x[5];
        CU_ASSERT_EQUAL(parse(bad[k][0], x, &writer, &err), RP_INPUT);
        CU_ASSERT_STRING_EQUAL(err.msg, bad[k][1]);
        if (strcmp(err.msg, bad[k][1]) != 0)
            printf("%s\n", err.msg);
    }
}

void suite_model_file(void) {
    RP_SUITE("model_file");
    RP_TEST(a_program_is_written_as_mps_and_lp);
    RP_TEST(rare_parts_are_written);
    RP_TEST(solution_files_of_each_program_are_read);
    RP_TEST(a_point_that_is_written_is_read_again);
    RP_TEST(columns_that_are_left_out_are_zero);
    RP_TEST(words_behind_what_is_asked_for_are_skipped);
    RP_TEST(other_dialects_are_read);
    RP_TEST(bad_solution_files_are_refused);
}
