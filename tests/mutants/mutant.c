#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

unsigned remat_mutant;
unsigned char *remat_reached;

/* The file's size is the number of mutants. Child processes write into the same file. */
static void open_reached(const char *name) {
    int file = open(name, O_RDWR);
    off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
    void *bytes =
        size < 0 ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED)
        _exit(99);
    close(file);
    remat_reached = bytes;
    remat_mutant = RP_RECORDING;
}

__attribute__((constructor)) static void choose_mutant(void) {
    const char *number = getenv("RP_MUTANT"), *reached = getenv("RP_REACHED");
    if (number != NULL)
        remat_mutant = (unsigned)strtoul(number, NULL, 10);
    if (reached != NULL)
        open_reached(reached);
}
