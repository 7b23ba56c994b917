/* Tests of child processes that work for this one. */
#include "solve/child/child.h"

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run.h"
#include "solve/child/loss.h"

static uint32_t n_open_files(void) {
    uint32_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

/* What a child tells of itself. */
struct told {
    bool ignores_interrupts;
    int signal_if_parent_dies;
    struct rlimit core;
    uint32_t n_open_files;
};

static void tell(void *arg, int socket) {
    struct told t = {.n_open_files = n_open_files()};
    struct sigaction action;
    (void)arg;
    sigaction(SIGINT, NULL, &action);
    t.ignores_interrupts = action.sa_handler == SIG_IGN;
    prctl(PR_GET_PDEATHSIG, &t.signal_if_parent_dies);
    getrlimit(RLIMIT_CORE, &t.core);
    send(socket, &t, sizeof t, MSG_NOSIGNAL);
}

static void a_child_has_its_own_settings(void) {
    struct rp_child c;
    struct told t = {0};
    uint32_t n = n_open_files();
    struct rlimit core;
    getrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_CORE, &(struct rlimit){core.rlim_max, core.rlim_max});
    CU_ASSERT_FATAL(rp_child_start(&c, tell, NULL));
    CU_ASSERT_EQUAL(rp_child_wait(&c, 60, &t, sizeof t), RP_CHILD_ANSWERED);
    CU_ASSERT(t.ignores_interrupts);
    CU_ASSERT_EQUAL(t.signal_if_parent_dies, SIGKILL);
    CU_ASSERT(t.core.rlim_cur == 0 && t.core.rlim_max == 0);
    CU_ASSERT_EQUAL(t.n_open_files, n + 1); /* one end of the socket */
    CU_ASSERT_EQUAL(n_open_files(), n + 1);
    rp_child_end(&c);
    CU_ASSERT_EQUAL(n_open_files(), n);
    setrlimit(RLIMIT_CORE, &core);
}

static void wait_for_ever(void *arg, int socket) {
    (void)arg;
    (void)socket;
    for (;;)
        pause();
}

static void a_child_is_silent_until_it_is_gone(void) {
    struct rp_child c;
    char byte;
    CU_ASSERT_FATAL(rp_child_start(&c, wait_for_ever, NULL));
    CU_ASSERT_EQUAL(rp_child_wait(&c, 0, &byte, 1), RP_CHILD_SILENT);
    CU_ASSERT_EQUAL(rp_child_wait(&c, -1, &byte, 1), RP_CHILD_SILENT);
    kill(c.pid, SIGKILL);
    CU_ASSERT_EQUAL(rp_child_wait(&c, 1e7, &byte, 1), RP_CHILD_GONE);
    rp_child_end(&c);
}

static void messages_have_just_their_size(void) {
    struct rp_child c;
    struct told t[2];
    CU_ASSERT_FATAL(rp_child_start(&c, tell, NULL));
    CU_ASSERT_EQUAL(rp_child_wait(&c, 60, t, sizeof t), RP_CHILD_GONE);
    rp_child_end(&c);
}

/* ---- losses ---- */

static void end_at_once(void *arg, int socket) {
    (void)socket;
    if (arg != NULL)
        raise(*(int *)arg);
}

/* What is lost when a child ends by this signal; 0: by itself. */
static uint64_t losses_of(int signal, char text[128]) {
    struct rp_child c;
    char byte;
    uint64_t before = rp_losses();
    CU_ASSERT_FATAL(rp_child_start(&c, end_at_once, signal != 0 ? &signal : NULL));
    CU_ASSERT_EQUAL(rp_child_wait(&c, 60, &byte, 1), RP_CHILD_GONE);
    rp_child_end(&c);
    rp_describe_loss(text, 128);
    return rp_losses() - before;
}

/* A crash is the same each time, so the search without the child is, too. */
static void a_child_that_is_ended_from_outside_is_lost(void) {
    char text[128];
    CU_ASSERT_EQUAL(losses_of(0, text), 1);
    CU_ASSERT_STRING_EQUAL(text, "a process ended without an answer");
    CU_ASSERT_EQUAL(losses_of(SIGKILL, text), 1);
    CU_ASSERT_STRING_EQUAL(text, "a process was ended from outside: Killed");
    CU_ASSERT_EQUAL(losses_of(SIGABRT, text), 0);
}

/* A child of a child counts, and so does one that cannot be started. */
static void lose_a_child(void *arg, int socket) {
    struct rp_child c;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    char answer = rp_child_start(&c, end_at_once, arg);
    send(socket, &answer, 1, MSG_NOSIGNAL);
}

static void what_a_child_loses_is_seen_by_its_parent(void) {
    struct rp_child c;
    char answer = 1, text[128];
    uint64_t before = rp_losses();
    CU_ASSERT_FATAL(rp_child_start(&c, lose_a_child, NULL));
    CU_ASSERT_EQUAL(rp_child_wait(&c, 60, &answer, 1), RP_CHILD_ANSWERED);
    CU_ASSERT_EQUAL(answer, 0);
    CU_ASSERT_EQUAL(rp_losses(), before + 1);
    rp_describe_loss(text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "a process could not be started: Too many open files");
    rp_child_end(&c);
    CU_ASSERT_PTR_NULL(rp_shared_memory(SIZE_MAX / 2));
    CU_ASSERT_EQUAL(rp_losses(), before + 2);
}

void suite_child(void) {
    RP_SUITE("child");
    RP_TEST(a_child_has_its_own_settings);
    RP_TEST(a_child_is_silent_until_it_is_gone);
    RP_TEST(messages_have_just_their_size);
    RP_TEST(a_child_that_is_ended_from_outside_is_lost);
    RP_TEST(what_a_child_loses_is_seen_by_its_parent);
}
