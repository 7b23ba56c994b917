/* campaign: random graphs, options, files and signals against remat-plan.
 *
 *     campaign [OPTION]... PROGRAM
 *
 * --seed N     everything follows from it; 1 by default
 * --cases N    so many cases; 200 by default
 * --minutes N  as many cases as begin within this time instead
 * --case N     only this one; its folder is kept
 * --kind NAME  only cases of this kind
 * --folder DIR where the folders of cases are made
 * --steady     nothing that depends on a clock: no limits measured, no signals
 * --check GRAPH PLAN   only the second checker's opinion
 *
 * The last line is "campaign: N passed, M failed".
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/random.h"
#include "cases.h"

struct plan_of_campaign {
    struct cam_options o;
    uint64_t cases, only;
    double minutes;
    const char *kind;
    bool check;
};

static const struct cam_kind *draw_kind(struct cam_case *c, const char *wanted) {
    uint32_t total = 0;
    for (size_t k = 0; k < cam_n_kinds; k++)
        total += c->o->steady && cam_kinds[k].needs_clock ? 0 : cam_kinds[k].share;
    uint32_t ticket = (uint32_t)rp_rng_below(&c->r, total);
    size_t k = 0;
    for (;; k++) {
        uint32_t share = c->o->steady && cam_kinds[k].needs_clock ? 0 : cam_kinds[k].share;
        if (ticket < share)
            break;
        ticket -= share;
    }
    for (size_t i = 0; wanted != NULL && i < cam_n_kinds; i++)
        if (strcmp(cam_kinds[i].name, wanted) == 0)
            k = i;
    return &cam_kinds[k];
}

static void remove_folder(const char *folder) {
    char *command = rp_format("rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "campaign: %s stays\n", folder);
    free(command);
}

static bool run_case(const struct plan_of_campaign *p, struct cam_counts *counts,
                     uint64_t number) {
    struct cam_case c = {.o = &p->o, .counts = counts, .number = number};
    c.r.state = rp_mix64(p->o.seed * RP_GOLDEN_RATIO_64 + number);
    const struct cam_kind *kind = draw_kind(&c, p->kind);
    c.kind = kind->name;
    c.folder = rp_format("%s/case-%" PRIu64 "-%" PRIu64, p->o.folder, p->o.seed, number);
    remove_folder(c.folder);
    if (mkdir(c.folder, 0777) != 0) {
        perror(c.folder);
        exit(2);
    }
    kind->run(&c);
    if (!c.failed && p->only == UINT64_MAX)
        remove_folder(c.folder);
    for (size_t k = 0; k < c.n_expected; k++)
        free(c.expected[k]);
    free(c.expected);
    free(c.folder);
    fflush(stdout);
    return !c.failed;
}

static double now_minutes(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec / 60;
}

static int run_campaign(const struct plan_of_campaign *p) {
    struct cam_counts n = {0};
    uint64_t passed = 0, failed = 0;
    double begin = now_minutes();
    uint64_t first = p->only == UINT64_MAX ? 0 : p->only;
    for (uint64_t k = first;; k++) {
        bool more = p->only != UINT64_MAX ? k == first
                    : p->minutes > 0      ? now_minutes() - begin < p->minutes
                                          : k < p->cases;
        if (!more)
            break;
        if (run_case(p, &n, k))
            passed++;
        else
            failed++;
    }
    printf("%" PRIu64 " commands, %" PRIu64 " plans, %" PRIu64 " mutants (%" PRIu64
           " accepted), %" PRIu64 " bounds held against plans, %" PRIu64
           " optima by brute force, %" PRIu64 " signals, %" PRIu64 " programs run\n",
           n.commands, n.plans, n.mutants, n.accepted_mutants, n.bounds, n.optima,
           n.interrupts, n.emits);
    printf("campaign: %" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
    return failed > 0;
}

static int check(const char *graph, const char *plan) {
    struct ck_figures f;
    char why[256] = "";
    enum ck_verdict verdict = ck_check(graph, plan, &f, why);
    if (verdict == CK_VALID)
        printf("valid: time %" PRIu64 " peak %" PRIu64 "\n", f.time_ns, f.peak_bytes);
    else
        printf("%s: %s\n", verdict == CK_INVALID ? "invalid" : "bad file", why);
    return (int)verdict;
}

static uint64_t number_or(const char *text, uint64_t otherwise) {
    return text[0] != 0 ? strtoull(text, NULL, 10) : otherwise;
}

/* An empty value, as `make campaign` passes, is no value. */
static bool read_options(int argc, char **argv, struct plan_of_campaign *p) {
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"cases", required_argument, NULL, 'n'},
                                            {"minutes", required_argument, NULL, 'm'},
                                            {"case", required_argument, NULL, 'c'},
                                            {"kind", required_argument, NULL, 'k'},
                                            {"folder", required_argument, NULL, 'f'},
                                            {"steady", no_argument, NULL, 'S'},
                                            {"check", no_argument, NULL, 'C'},
                                            {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (c) {
        case 's':
            p->o.seed = number_or(optarg, 1);
            break;
        case 'n':
            p->cases = number_or(optarg, 200);
            break;
        case 'm':
            p->minutes = strtod(optarg, NULL);
            break;
        case 'c':
            p->only = number_or(optarg, UINT64_MAX);
            break;
        case 'k':
            p->kind = optarg[0] ? optarg : NULL;
            break;
        case 'f':
            p->o.folder = optarg;
            break;
        case 'S':
            p->o.steady = true;
            break;
        case 'C':
            p->check = true;
            break;
        default:
            return false;
        }
    return argc - optind == (p->check ? 2 : 1);
}

/* `--version` says which engines there are. */
static bool finds_highs(const char *program) {
    char line[256], *command = rp_format("'%s' --version", program);
    bool found = false;
    FILE *f = popen(command, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        found = found || (strstr(line, "HiGHS") && !strstr(line, "HiGHS not found"));
    if (f != NULL)
        pclose(f);
    free(command);
    return found;
}

int main(int argc, char **argv) {
    struct plan_of_campaign p = {
        .o = {.folder = "build/campaign", .seed = 1}, .cases = 200, .only = UINT64_MAX};
#ifdef __SANITIZE_ADDRESS__
    p.o.sanitized = true;
#endif
    if (!read_options(argc, argv, &p)) {
        fprintf(stderr, "campaign: see the head of tests/campaign/campaign.c\n");
        return 2;
    }
    if (p.check)
        return check(argv[optind], argv[optind + 1]);
    setenv("ASAN_OPTIONS", "exitcode=86", 0);
    setenv("UBSAN_OPTIONS", "exitcode=86:print_stacktrace=1", 0);
    mkdir(p.o.folder, 0777);
    char *program = realpath(argv[optind], NULL), *folder = realpath(p.o.folder, NULL);
    p.o.program = program;
    p.o.folder = folder;
    int status = 2;
    if (program == NULL || folder == NULL) {
        perror("campaign");
    } else {
        p.o.highs = finds_highs(program);
        status = run_campaign(&p);
    }
    free(program);
    free(folder);
    return status;
}
