/* chain mlp|conv LAYERS RATIO: prints the training step of a chain of layers in the graph
 * format.
 *
 * A layer is a product of 1 ms and an activation function of 0.1 ms, each with an output of
 * 4 MiB; RATIO ms is what a copy of that takes. Backwards, a layer has an op for the
 * activation function, one for the gradient of the weights and one for that of the input.
 * With conv, sizes halve after each third of the layers, and the products of three layers
 * take 0.7, 1 and 1.4 ms. Good plans of these graphs are easy to find and hard to prove. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT_BYTES = 4 << 20, WEIGHT_BYTES = 1 << 16, MAX_LAYERS = 10000, NONE = -1 };

static bool is_conv;
static int n;
static const char *comma; /* before the next element */

/* Of what layer l reads; what the last one writes is as large as what layer n would read.
 */
static int bytes_at(int l) {
    return is_conv ? UNIT_BYTES >> 3 * l / (n + 1) : UNIT_BYTES;
}

static int product_ns(int l) {
    static const int ns[] = {700000, 1000000, 1400000};
    return is_conv ? ns[l % 3] : 1000000;
}

/* Tensors in the order of the file: weights, input, label, two outputs a layer, the
 * gradient of the last one, and from the last layer to the first the gradients of its
 * product, its weights and its input. */
static int product_of(int l) {
    return n + 2 + 2 * l;
}

static int input_of(int l) {
    return l == 0 ? n : product_of(l) - 1;
}

static int product_gradient(int l) {
    return 3 * n + 3 + 3 * (n - 1 - l);
}

static void put_tensor(const char *name, int l, int bytes, const char *kind) {
    printf("%s\n{\"name\":\"%s%d\",\"bytes\":%d,\"kind\":\"%s\"}", comma, name, l, bytes,
           kind);
    comma = ",";
}

static void put_op(const char *kind, int l, int in, int in2, int out, int ns) {
    printf("%s\n{\"name\":\"%s%d\",\"kind\":\"%s\",\"inputs\":[%d", comma, kind, l, kind,
           in);
    if (in2 != NONE)
        printf(",%d", in2);
    printf("],\"outputs\":[%d],\"time_ns\":%d}", out, ns);
    comma = ",";
}

static void put_tensors(void) {
    comma = "";
    for (int l = 0; l < n; l++)
        put_tensor("weight", l, WEIGHT_BYTES, "parameter");
    put_tensor("input", 0, bytes_at(0), "input");
    put_tensor("label", 0, 512, "input");
    for (int l = 0; l < n; l++) {
        put_tensor("product", l, bytes_at(l + 1), "activation");
        put_tensor("output", l, bytes_at(l + 1), "activation");
    }
    put_tensor("input_gradient", n, bytes_at(n), "gradient");
    for (int l = n - 1; l >= 0; l--) {
        put_tensor("product_gradient", l, bytes_at(l + 1), "gradient");
        put_tensor("weight_gradient", l, WEIGHT_BYTES, "gradient");
        put_tensor("input_gradient", l, bytes_at(l), "gradient");
    }
}

static void put_ops(void) {
    comma = "";
    for (int l = 0; l < n; l++) {
        put_op("product", l, input_of(l), l, product_of(l), product_ns(l));
        put_op("activate", l, product_of(l), NONE, input_of(l + 1), 100000);
    }
    put_op("loss", n, input_of(n), n + 1, product_gradient(n - 1) - 1, 50000);
    for (int l = n - 1; l >= 0; l--) {
        int g = product_gradient(l);
        put_op("derive", l, g - 1, input_of(l + 1), g, 100000);
        put_op("weights_back", l, g, input_of(l), g + 1, product_ns(l));
        put_op("input_back", l, g, l, g + 2, product_ns(l));
    }
}

int main(int argc, char **argv) {
    is_conv = argc == 4 && strcmp(argv[1], "conv") == 0;
    n = argc == 4 && (is_conv || strcmp(argv[1], "mlp") == 0) ? atoi(argv[2]) : 0;
    double ms = argc == 4 ? atof(argv[3]) : 0;
    if (n < 1 || n > MAX_LAYERS || !(ms > 0.001 && ms < 1000)) {
        fputs("usage: chain mlp|conv LAYERS RATIO\n", stderr);
        return 2;
    }
    long bytes_per_s = (long)(UNIT_BYTES / ms * 1000);
    printf("{\"format\":\"remat-graph\",\"version\":1,\"name\":\"chain-%s-%d\","
           "\"time_source\":\"imported:chain\",\n\"device\":{\"name\":\"chain\","
           "\"h2d_bytes_per_s\":%ld,\"d2h_bytes_per_s\":%ld},\n\"tensors\":[",
           argv[1], n, bytes_per_s, bytes_per_s);
    put_tensors();
    printf("],\n\"ops\":[");
    put_ops();
    printf("],\n\"keep\":[");
    for (int l = 0; l < n; l++)
        printf("%s%d", l > 0 ? "," : "", product_gradient(l) + 1);
    puts("]}");
    return ferror(stdout) || fflush(stdout) != 0;
}
