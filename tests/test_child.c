/* Tests of child processes that work for this one. */
#include "solve/engine/child.h"

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run.h"

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

void suite_child(void) {
    RP_SUITE("child");
    RP_TEST(a_child_has_its_own_settings);
    RP_TEST(a_child_is_silent_until_it_is_gone);
    RP_TEST(messages_have_just_their_size);
}
