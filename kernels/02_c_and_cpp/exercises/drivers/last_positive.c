// Prints the last of n numbers above 0. Memory more than a few numbers before it is then closed
// for reading: a walk from the end does not come there, and one that does is noted, and let in.

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

size_t try_last_positive(const int *x, size_t n);

enum { FEW = 32 }; // numbers that may be read at once

static unsigned char *closed;
static size_t closed_bytes;
static volatile sig_atomic_t read_early;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    const uintptr_t at = (uintptr_t)info->si_addr, first = (uintptr_t)closed;
    if (at < first || at >= first + closed_bytes) { // a fault of another kind
        signal(number, SIG_DFL);
        return;
    }
    read_early = 1;
    mprotect(closed, closed_bytes, PROT_READ);
}

static int reads_before_the_last(const int *x, size_t n, size_t last)
{
    if (last <= FEW) return 0;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), ahead = (last - FEW) * sizeof *x;
    closed_bytes = (ahead + page - 1) / page * page;
    const size_t bytes = closed_bytes + n * sizeof *x - ahead;
    closed = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (closed == MAP_FAILED) return 0;
    int *const copy = (int *)(closed + closed_bytes - ahead);
    memcpy(copy, x, n * sizeof *x);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, before, other;
    sigaction(SIGSEGV, &action, &before);
    sigaction(SIGBUS, &action, &other); // what some systems send in its place
    mprotect(closed, closed_bytes, PROT_NONE);
    try_last_positive(copy, n);
    sigaction(SIGSEGV, &before, NULL);
    sigaction(SIGBUS, &other, NULL);
    munmap(closed, bytes);
    return read_early;
}

int main(void)
{
    size_t n;
    if (scanf("%zu", &n) != 1) return 1;
    int *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; ++i) {
        if (scanf("%d", &x[i]) != 1) return 1;
    }
    int *const given = malloc(n * sizeof *x);
    memcpy(given, x, n * sizeof *x);
    const size_t last = try_last_positive(x, n);
    printf("%zu\n", last);
    if (memcmp(given, x, n * sizeof *x)) printf("the numbers in x are changed\n");
    free(given);
    if (last < n && x[last] > 0 && reads_before_the_last(x, n, last)) {
        printf("the walk goes on, and reads numbers far before the answer\n");
    }
    size_t before = last < n ? last : n; // the answer for the numbers before that one
    while (before > 0 && x[before - 1] <= 0) --before;
    const size_t expected = before > 0 ? before - 1 : last, found = try_last_positive(x, last);
    if (last <= n && found != expected) {
        printf("a second call, for the first %zu, gives %zu and not %zu\n", last, found, expected);
    }
    free(x);
    return 0;
}
