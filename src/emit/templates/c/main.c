/* SPDX-License-Identifier: MIT
 *
 * Runs the step without rematerialization, then the plan of plan.c, and compares every
 * tensor bit for bit. Writes one JSON object to standard output.
 *
 *     replay [STEPS]     how many training steps in a row
 *
 * Exit code: 0 equal, 1 not equal, 2 a wrong argument, 5 memory or threads are lacking. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expected.h"
#include "replay.h"

extern const struct replay_program program;

static void put_string(const char *s) {
    putchar('"');
    for (; *s != '\0'; s++)
        if (*s == '"' || *s == '\\')
            printf("\\%c", *s);
        else if ((unsigned char)*s < 0x20)
            printf("\\u%04x", (unsigned)(unsigned char)*s);
        else
            putchar(*s);
    putchar('"');
}

static void report(const struct replay_result *r, const struct replay_expected *expected) {
    const struct replay_schedule *s = &program.plan;
    printf("{\"target\":\"c\",\"graph\":");
    put_string(program.name);
    printf(",\"equal\":%s,\"wrong\":", r->wrong[0] == '\0' ? "true" : "false");
    if (r->wrong[0] == '\0')
        printf("null");
    else
        put_string(r->wrong);
    printf(",\"training_steps\":%" PRIu32 ",\"tensors_compared\":%" PRIu64
           ",\"kept\":%" PRIu32,
           expected->n_steps, r->n_checked, program.n_keep);
    printf(",\"steps\":%" PRIu32 ",\"arena_bytes\":%" PRIu64 ",\"host_bytes\":%" PRIu64,
           s->n_steps, s->arena_bytes, s->host_bytes);
    printf(",\"plan_ns\":{\"predicted\":%" PRIu64 ",\"measured\":%" PRIu64
           "},\"reference_ns\":{\"predicted\":%" PRIu64 ",\"measured\":%" PRIu64 "}}\n",
           program.time_ns, r->time_ns, program.baseline_ns, expected->time_ns);
}

/* The number of training steps; 0 if the arguments are wrong. */
static uint32_t n_steps(int argc, char **argv) {
    char *end = "";
    if (argc < 2)
        return replay_usual_steps(&program);
    const long n = strtol(argv[1], &end, 10);
    return argc == 2 && *end == '\0' && n > 0 && n <= 1000000 ? (uint32_t)n : 0;
}

int main(int argc, char **argv) {
    struct replay_expected expected;
    struct replay_result result = {0, 0, "no memory"};
    const uint32_t steps = n_steps(argc, argv);
    if (steps == 0) {
        fprintf(stderr, "usage: replay [STEPS], a number from 1 to 1000000\n");
        return 2;
    }
    const bool ran = replay_expected_build(&program, steps, &expected) &&
                     replay_run(&program, &program.plan, REPLAY_FREELY, &expected, &result);
    if (ran)
        report(&result, &expected);
    else
        fprintf(stderr, "replay: %s\n", result.wrong);
    replay_expected_fini(&expected);
    if (!ran || fflush(stdout) != 0)
        return 5;
    return result.wrong[0] == '\0' ? 0 : 1;
}
