/* Writes the training step of network.h as a graph: ./graph >graph.json. The formats are in
 * docs/formats.md. The times are guesses here; a program that has measured its ops writes
 * what it measured. */
#include <stdio.h>

#include "network.h"

static void tensor(int t) {
    int bytes = t == LOSS ? 4 : (t >= W && t < A) || t >= DW ? WEIGHTS_BYTES : ROWS_BYTES;
    const char *kind = t < W   ? "input"
                       : t < V ? "parameter"
                       : t < A ? "state"
                       : t < G ? "activation"
                               : "gradient";
    printf("%s  {\"name\": \"t%d\", \"kind\": \"%s\", \"bytes\": %d%s}", t > 0 ? ",\n" : "",
           t, kind, bytes, t >= V && t < A ? ", \"home\": \"host\"" : "");
}

static void op(int j, const char *kind, int time_ns) {
    printf("%s  {\"name\": \"%s.%d\", \"kind\": \"%s\", \"time_ns\": %d, ",
           j > 0 ? ",\n" : "", kind, j, kind, time_ns);
}

int main(void) {
    puts("{\"format\": \"remat-graph\", \"version\": 2, \"name\": \"dense\",\n"
         "\"time_source\": \"imported:guessed\",\n"
         "\"device\": {\"h2d_bytes_per_s\": 1000000000, \"d2h_bytes_per_s\": 1000000000},\n"
         "\"tensors\": [");
    for (int t = 0; t < TENSORS; t++)
        tensor(t);
    puts("],\n\"ops\": [");
    for (int k = 0; k < LAYERS; k++) {
        op(k, "forward", 20000);
        printf("\"inputs\": [%d, %d], \"outputs\": [%d]}", value(k), W + k, value(k + 1));
    }
    op(LOSS_OP, "loss", 5000);
    printf("\"inputs\": [%d, %d], \"outputs\": [%d, %d]}", value(LAYERS), TARGET, LOSS,
           G + LAYERS);
    for (int k = LAYERS - 1; k >= 0; k--) {
        op(backward_op(k), "backward", 40000);
        printf("\"inputs\": [%d, %d, %d, %d], \"outputs\": [%d, %d]}", value(k),
               value(k + 1), W + k, G + k + 1, G + k, DW + k);
        op(backward_op(k) + 1, "update", 1000);
        printf("\"inputs\": [%d], \"outputs\": [], \"updates\": [%d, %d]}", DW + k, W + k,
               V + k);
    }
    printf("],\n\"keep\": [%d]}\n", LOSS);
    return 0;
}
