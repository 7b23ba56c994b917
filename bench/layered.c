/* layered N SEED: prints a random layered graph of N ops in the graph format.
 *
 * Layers have random widths. An op reads 1 to 4 tensors, most of them from the layer before
 * and some from any earlier one, and has one output. Times are up to 1 us, sizes up to 8
 * KB. Tensors that no op reads are kept. The same N and SEED give the same bytes on every
 * machine. These graphs are wide and have no backward pass, so they are hard in other ways
 * than training steps. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

/* SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators". */
static uint64_t below(uint64_t n) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % n;
}

/* Writes the inputs of op i, whose layer begins at op `layer` and the layer before at op
 * `last`. */
static void put_inputs(uint64_t layer, uint64_t last, bool *used) {
    uint64_t in[4], n = 0, wanted = layer == 0 ? 0 : 1 + below(4);
    for (uint64_t tries = 0; n < wanted && tries < 8; tries++) {
        bool near = below(100) < 75, known = false;
        uint64_t x = near ? last + below(layer - last) : below(layer);
        for (uint64_t k = 0; k < n; k++)
            known = known || in[k] == x;
        if (!known)
            in[n++] = x;
    }
    for (uint64_t k = 0; k < n; k++) {
        printf("%s%" PRIu64, k > 0 ? "," : "", in[k]);
        used[in[k]] = true;
    }
}

int main(int argc, char **argv) {
    uint64_t n = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    if (n == 0 || n > 100000) {
        fputs("usage: layered N SEED\n", stderr);
        return 2;
    }
    bool *used = calloc(n, sizeof *used);
    if (used == NULL)
        return 5;
    state = strtoull(argv[2], NULL, 10);
    printf("{\"format\":\"remat-graph\",\"version\":1,\"name\":\"random-%s-%s\","
           "\"time_source\":\"imported:random\",\n\"tensors\":[",
           argv[1], argv[2]);
    for (uint64_t i = 0; i < n; i++)
        printf("%s\n{\"name\":\"%" PRIu64 "\",\"bytes\":%" PRIu64
               ",\"kind\":\"activation\"}",
               i > 0 ? "," : "", i, 10 * (1 + below(800)));
    puts("],\n\"ops\":[");
    for (uint64_t i = 0, layer = 0, last = 0, next = 0; i < n; i++) {
        if (i == next) {
            last = layer;
            layer = i;
            next = i + 1 + below(2 + n / 25);
        }
        printf("{\"name\":\"%" PRIu64 "\",\"kind\":\"opaque\",\"inputs\":[", i);
        put_inputs(layer, last, used);
        printf("],\"outputs\":[%" PRIu64 "],\"time_ns\":%" PRIu64 "}%s\n", i, below(1000),
               i + 1 < n ? "," : "],\n\"keep\":[");
    }
    bool first = true;
    for (uint64_t i = 0; i < n; i++)
        if (!used[i]) {
            printf("%s%" PRIu64, first ? "" : ",", i);
            first = false;
        }
    puts("]}");
    free(used);
    return ferror(stdout) || fflush(stdout) != 0;
}
