/* exit_order: whether libremat_inject.so finishes its trace before the exit handlers of the
 * real CUPTI run. Neither a GPU nor a driver is needed: CUPTI registers its handlers when
 * it is opened.
 *
 *   exit_order cuda LIBRARY       LIBRARY is loaded as by the CUDA driver
 *   exit_order nvtx LIBRARY       first as by NVTX, then as by the CUDA driver
 *
 * Exit code 0: it does, 1: it does not, 77: no CUPTI was found. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/inject/inject.h"

typedef void handler(void *);

enum { MAX_HANDLERS = 4096 };
static struct entry {
    handler *run;
    void *with;
    enum { OURS, OF_CUPTI } whose;
} entries[MAX_HANDLERS];
static int n_entries, n_of_cupti;
static int first[2]; /* when the first handler of each ran, from 1; 0: not yet */
static int n_run;

static void run_entry(void *p) {
    const struct entry *e = p;
    n_run++;
    if (first[e->whose] == 0)
        first[e->whose] = n_run;
    e->run(e->with);
}

/* Every library's atexit and static destructors come here, instead of to libc. */
int __cxa_atexit(handler *run, void *with, void *library);
int __cxa_atexit(handler *run, void *with, void *library) {
    static int (*libc)(handler *, void *, void *);
    if (libc == NULL)
        *(void **)&libc = dlsym(RTLD_NEXT, "__cxa_atexit");
    Dl_info info;
    void *at;
    memcpy(&at, &run, sizeof at);
    const char *path = dladdr(at, &info) != 0 ? info.dli_fname : "";
    const bool cupti = strstr(path, "libcupti.so") != NULL;
    if ((!cupti && strstr(path, "libremat_inject.so") == NULL) || n_entries == MAX_HANDLERS)
        return libc(run, with, library);
    n_of_cupti += cupti;
    struct entry *e = &entries[n_entries++];
    *e = (struct entry){run, with, cupti ? OF_CUPTI : OURS};
    return libc(run_entry, e, library);
}

static void verdict(void) {
    const bool good = first[OURS] != 0 && first[OURS] < first[OF_CUPTI];
    if (!good)
        printf(
            "of %d exit handlers, ours ran as number %d and CUPTI's first as number %d\n",
            n_run, first[OURS], first[OF_CUPTI]);
    fflush(stdout);
    _exit(good ? 0 : 1);
}

static const void *no_tables(uint32_t id) {
    (void)id;
    return NULL;
}

int main(int argc, char **argv) {
    atexit(verdict); /* registered first, so it runs last */
    void *library = argc == 3 ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*from_cuda)(void) = NULL;
    int (*from_nvtx)(nvtx_get_table *) = NULL;
    if (library != NULL) {
        *(void **)&from_cuda = dlsym(library, "InitializeInjection");
        *(void **)&from_nvtx = dlsym(library, "InitializeInjectionNvtx2");
    }
    if (from_cuda == NULL || from_nvtx == NULL)
        _exit(2);
    if (strcmp(argv[1], "nvtx") == 0)
        from_nvtx(no_tables);
    from_cuda();
    if (n_of_cupti == 0)
        _exit(77);
    return 0;
}
