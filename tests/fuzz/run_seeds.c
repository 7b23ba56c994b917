/* run_seeds: runs a fuzz target over files without libFuzzer, for `make check`. A fault
 * ends the process; the last name printed is the input that caused it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "fuzz.h"

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        struct rp_err err = {{0}};
        char *text;
        size_t len;
        printf("%s\n", argv[i]);
        fflush(stdout);
        if (rp_read_file(argv[i], &text, &len, &err) != RP_OK) {
            puts(err.msg);
            return 1;
        }
        /* An exact copy, so that a sanitizer sees a read past the end. */
        uint8_t *data = malloc(len ? len : 1);
        if (data == NULL)
            return 1;
        memcpy(data, text, len);
        free(text);
        LLVMFuzzerTestOneInput(data, len);
        free(data);
    }
    const char *name = strrchr(argv[0], '_');
    printf("fuzz-%s: %d passed, 0 failed\n", name ? name + 1 : "seeds", argc - 1);
    return argc == 1;
}
