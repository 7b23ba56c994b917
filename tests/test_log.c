/* Tests of what messages and progress leave on a terminal: a child process writes to a
 * pseudo-terminal, and a small emulator reads it. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "run.h"
#include "solve/context.h"

enum { TEXT = 4000 };

/* A terminal that has only what we use of one: carriage return, line feed, and erasing to
 * the end of the line, and colours, which it lists. `seen` holds every text that a line had
 * before the cursor went back to its beginning. */
struct terminal {
    char line[TEXT], screen[TEXT], seen[TEXT], colours[TEXT];
    size_t column;
};

static void append(char to[TEXT], const char *line, const char *end) {
    size_t n = strlen(to);
    snprintf(to + n, TEXT - n, "%s%s", line, end);
}

static void put(struct terminal *t, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\r') {
            append(t->seen, t->line, "|");
            t->column = 0;
        } else if (text[i] == '\n') {
            append(t->screen, t->line, "\n");
            memset(t->line, 0, sizeof t->line);
        } else if (text[i] == '\033') {
            CU_ASSERT_FATAL(i + 2 < n && text[i + 1] == '[');
            size_t end = i + 2 + strspn(text + i + 2, "0123456789;");
            if (text[end] == 'K')
                memset(t->line + t->column, 0, sizeof t->line - t->column);
            else
                snprintf(t->colours + strlen(t->colours), 8, "%.*s ", (int)(end - i - 2),
                         text + i + 2);
            CU_ASSERT(text[end] == 'K' || text[end] == 'm');
            i = end;
        } else {
            t->line[t->column++] = text[i];
        }
    }
}

/* Runs `write` in a child whose standard error is a terminal with that many columns. */
static void show(struct terminal *t, void (*write)(void), unsigned short columns,
                 const char *term) {
    char text[8000];
    size_t n = 0;
    ssize_t more;
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    CU_ASSERT_FATAL(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    CU_ASSERT_FATAL(slave >= 0 && ioctl(slave, TIOCSWINSZ, &size) == 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(slave, STDERR_FILENO);
        setenv("TERM", term, 1);
        write();
        fflush(stderr);
        _exit(0);
    }
    close(slave);
    while ((more = read(master, text + n, sizeof text - n)) > 0)
        n += (size_t)more;
    CU_ASSERT(errno == EIO || more == 0); /* the child has closed it */
    waitpid(child, NULL, 0);
    close(master);
    memset(t, 0, sizeof *t);
    put(t, text, n);
}

/* A pipe of packets keeps writes apart. */
static void a_message_is_one_write(void) {
    char packet[8000];
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_DIRECT), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]); /* so that a write fails once the parent reads no more */
        dup2(ends[1], STDERR_FILENO);
        rp_log_by_line();
        rp_log(0, "%03000d", 7);
        rp_log(-1, "the\033 end");
        _exit(0);
    }
    close(ends[1]);
    CU_ASSERT_EQUAL(read(ends[0], packet, sizeof packet), 13 + 3000);
    CU_ASSERT(memcmp(packet, "remat-plan: 000", 15) == 0 && packet[3012] == '\n');
    ssize_t n = read(ends[0], packet, sizeof packet);
    CU_ASSERT(n > 20 && memcmp(packet, "remat-plan: the", 15) == 0 &&
              packet[n - 1] == '\n');
    CU_ASSERT_EQUAL(read(ends[0], packet, sizeof packet), 0);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void work(void) {
    rp_progress_task(10, 95, "point %d of %d", 1, 2);
    rp_progress(7, "annealing, best %s over keep-all", "3.20%");
    rp_log(0, "a message");
    rp_progress_task(10, 0, "point %d of %d", 2, 2);
    rp_progress(3, "placing buffers");
    rp_progress_end();
}

static void nothing_of_the_progress_stays_on_the_screen(void) {
    struct terminal t;
    show(&t, work, 80, "xterm");
    CU_ASSERT_STRING_EQUAL(t.screen, "remat-plan: a message\n");
    CU_ASSERT_STRING_EQUAL(t.line, "");
    CU_ASSERT_STRING_EQUAL(
        t.seen,
        "point 1 of 2, at most 1 min 45 s left|"
        "point 1 of 2, at most 1 min 42 s left: annealing, best 3.20% over keep-all|"
        "remat-plan: a message|"
        "point 2 of 2, at most 10 s left|"
        "point 2 of 2, at most 3 s left: placing buffers|");
}

static void a_line_is_cut_at_the_edge_of_the_screen(void) {
    struct terminal t;
    show(&t, work, 20, "xterm");
    CU_ASSERT_STRING_EQUAL(t.line, "");
    CU_ASSERT_PTR_NOT_NULL(strstr(t.seen, "|point 2 of 2, at mo|"));
    CU_ASSERT_PTR_NULL(strstr(t.seen, "point 2 of 2, at mos"));
}

static void quiet_work(void) {
    rp_log_set(-1);
    work();
}

static void work_beside_others(void) {
    rp_progress_task(1, 1, "the work of the parent");
    rp_progress_off();
    work();
}

static void begin_beside_others(void) {
    rp_progress_task(1, 1, "the work of the parent");
    rp_progress_off();
    rp_progress(1, "the work of the child");
}

static void there_are_terminals_and_processes_without_progress(void) {
    struct terminal t;
    show(&t, work, 80, "dumb");
    CU_ASSERT_STRING_EQUAL(t.screen, "remat-plan: a message\n");
    CU_ASSERT_STRING_EQUAL(t.seen, "remat-plan: a message|");
    show(&t, quiet_work, 80, "xterm");
    CU_ASSERT_STRING_EQUAL(t.screen, "");
    CU_ASSERT_STRING_EQUAL(t.seen, "");
    show(&t, work_beside_others, 80, "xterm");
    CU_ASSERT_STRING_EQUAL(t.screen, "remat-plan: a message\n");
    CU_ASSERT_STRING_EQUAL(t.line, "");
    CU_ASSERT_PTR_NULL(strstr(t.seen, "point"));
    show(&t, begin_beside_others, 80, "xterm");
    CU_ASSERT_STRING_EQUAL(t.line, "the work of the parent, at most 2 s left");
}

static void work_of_unknown_length(void) {
    rp_progress_task(NAN, NAN, "building");
    rp_progress_task(5, NAN, "searching");
}

static void without_a_limit_the_line_says_how_long_it_has_taken(void) {
    struct terminal t;
    show(&t, work_of_unknown_length, 80, "xterm");
    CU_ASSERT(strncmp(t.seen, "building, ", 10) == 0 &&
              strstr(t.seen, " s so far|") != NULL);
    CU_ASSERT(strncmp(t.line, "searching, ", 11) == 0 &&
              strstr(t.line, " s so far") != NULL);
}

static void messages(void) {
    rp_log_set(1);
    rp_log(-1, "an error");
    rp_log(0, "a warning");
    rp_log(1, "a detail");
    rp_put_styled(RP_GOOD, "valid", stderr);
    rp_log_set(0);
}

static void messages_without_colour(void) {
    setenv("NO_COLOR", "1", 1);
    messages();
}

static void colours_are_for_terminals_that_know_them(void) {
    struct terminal t;
    char *text;
    size_t len;
    show(&t, messages, 80, "xterm");
    CU_ASSERT_STRING_EQUAL(t.colours, "1;31  33  32  ");
    CU_ASSERT_STRING_EQUAL(t.screen, "remat-plan: an error\nremat-plan: a warning\n"
                                     "remat-plan: a detail\n");
    CU_ASSERT_STRING_EQUAL(t.line, "valid");
    show(&t, messages_without_colour, 80, "xterm");
    CU_ASSERT_STRING_EQUAL(t.colours, "");
    show(&t, messages, 80, "dumb");
    CU_ASSERT_STRING_EQUAL(t.colours, "");
    FILE *f = rp_text_open(&text, &len);
    rp_put_styled(RP_BAD, "rejected", f);
    rp_text_close(f);
    CU_ASSERT_STRING_EQUAL(text, "rejected");
    free(text);
}

static void hours(void) {
    rp_progress_task(5, 0, "%s", "");
    rp_progress(7500, "searching");
}

static void minutes(void) {
    rp_progress_task(59, 0, "%s", "a");
    rp_progress_task(60, 0, "%s", "b");
    rp_progress_task(3599, 0, "%s", "c");
    rp_progress_task(3600, 0, "%s", "d");
}

static void times_are_shown_in_two_units(void) {
    struct terminal t;
    show(&t, hours, 80, "xterm");
    CU_ASSERT_STRING_EQUAL(t.line, "at most 2 h 5 min left: searching");
    show(&t, minutes, 80, "xterm");
    CU_ASSERT_STRING_EQUAL(t.seen, "a, at most 59 s left|b, at most 1 min 0 s left|"
                                   "c, at most 59 min 59 s left|");
    CU_ASSERT_STRING_EQUAL(t.line, "d, at most 1 h 0 min left");
}

static void work_after_the_end(void) {
    rp_progress_task(3, 5, "a task");
    rp_progress_end();
    rp_progress(3, "more");
}

static void after_the_end_nothing_of_the_task_is_shown(void) {
    struct terminal t;
    show(&t, work_after_the_end, 80, "xterm");
    CU_ASSERT_STRING_EQUAL(t.line, "at most 3 s left: more");
}

static void a_terminal_of_unknown_width_shows_all(void) {
    struct terminal t;
    show(&t, work_after_the_end, 0, "xterm");
    CU_ASSERT_STRING_EQUAL(t.line, "at most 3 s left: more");
}

/* A line that was just drawn is not due. The process may be held up in between, but not a
 * hundred times. */
static void draw_until_not_due(void) {
    int k = 0;
    do
        rp_progress_task(1, 0, "a task");
    while (rp_progress_due() && ++k < 100);
    rp_progress_task(1, 0, "%s", k < 100 ? "not due" : "due");
}

static void a_line_is_due_only_after_a_while(void) {
    struct terminal t;
    show(&t, draw_until_not_due, 80, "xterm");
    CU_ASSERT_STRING_EQUAL(t.line, "not due, at most 1 s left");
}

/* Between two questions whether it is to stop, a search finds a plan 10% slower than
 * keep-all, and waits until the line is due. */
static void search(void) {
    struct rp_graph g = {.total_time_ns = 100};
    struct rp_solve_options o = {0};
    struct rp_context w = {.g = &g, .o = &o, .end = INFINITY, .stop.deadline = INFINITY};
    rp_context_doing(&w, "annealing");
    w.incumbent.found = true;
    w.incumbent.time_ns = 110;
    w.bound_ns = 100;
    rp_context_stopped(&w);
    for (int k = 0; k < 100 && !rp_progress_due(); k++)
        usleep(10000);
    rp_context_stopped(&w);
}

static void the_line_of_a_search_shows_its_best_plan(void) {
    struct terminal t;
    show(&t, search, 120, "xterm");
    CU_ASSERT_PTR_NOT_NULL(strstr(t.seen, " s so far: annealing, no plan yet|"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(t.line, " s so far: annealing, best 10.00% over keep-all, gap 10.00%"));
}

static void clocks_go_on(void) {
    double begin = rp_seconds(), begin_thread = rp_thread_seconds();
    CU_ASSERT(begin_thread > 0 && begin_thread < begin);
    while (rp_thread_seconds() <= begin_thread)
        ;
    CU_ASSERT(rp_seconds() > begin);
}

void suite_log(void) {
    RP_SUITE("log");
    RP_TEST(a_message_is_one_write);
    RP_TEST(nothing_of_the_progress_stays_on_the_screen);
    RP_TEST(a_line_is_cut_at_the_edge_of_the_screen);
    RP_TEST(there_are_terminals_and_processes_without_progress);
    RP_TEST(without_a_limit_the_line_says_how_long_it_has_taken);
    RP_TEST(times_are_shown_in_two_units);
    RP_TEST(after_the_end_nothing_of_the_task_is_shown);
    RP_TEST(a_terminal_of_unknown_width_shows_all);
    RP_TEST(a_line_is_due_only_after_a_while);
    RP_TEST(the_line_of_a_search_shows_its_best_plan);
    RP_TEST(clocks_go_on);
    RP_TEST(colours_are_for_terminals_that_know_them);
}
