// The host's own memory: the linker turns the program's calls into these (--wrap).
#include "asking.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct { char *start; size_t bytes; } Block;
static Block *blocks;
static size_t places, filled;

static size_t place_of(char *start) {
    size_t at = ((uintptr_t)start >> 4) * 0x9E3779B97F4A7C15ull >> 20 & (places - 1);
    while (blocks[at].start && blocks[at].start != start) at = (at + 1) & (places - 1);
    return at;
}

static void *noted(void *start, size_t bytes) {
    if (!start) return start;
    pthread_mutex_lock(&lock);
    if (2 * (filled + 1) > places) {
        Block *old = blocks;
        size_t count = places;
        places = places ? 2 * places : 4096;
        blocks = calloc(places, sizeof *blocks);
        filled = 0;
        for (size_t n = 0; n < count; n++)
            if (old[n].start && old[n].bytes != (size_t)-1) blocks[place_of(old[n].start)] = old[n], filled++;
        free(old);
    }
    size_t at = place_of(start);
    filled += !blocks[at].start;
    blocks[at] = (Block){start, bytes};
    pthread_mutex_unlock(&lock);
    return start;
}

static void gone(void *start) {
    pthread_mutex_lock(&lock);
    if (places && start) {
        size_t at = place_of(start);
        if (blocks[at].start) blocks[at].bytes = -1;
    }
    pthread_mutex_unlock(&lock);
}

// Finds the start and size of the block that contains an address. Returns 0 if we know none.
int emulator_host_block(char *address, Word *start, Word *bytes) {
    int found = 0;
    for (size_t n = 0; n < places && !found; n++)
        if (blocks[n].start && blocks[n].bytes != (size_t)-1 && blocks[n].start <= address &&
            address < blocks[n].start + blocks[n].bytes)
            *start = W(blocks[n].start), *bytes = blocks[n].bytes, found = 1;
    return found;
}

// libstdc++ comes with the program, so its operators are looked up when they are first called.
static void *taken(const char *name, size_t n) {
    void *(*real)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, name);
    return noted(real(n), n);
}
static void given(const char *name, void *p) {
    gone(p);
    ((void (*)(void *))dlsym(RTLD_DEFAULT, name))(p);
}
void *__wrap_malloc(size_t n) { return noted(malloc(n), n); }
void *__wrap_calloc(size_t n, size_t m) { return noted(calloc(n, m), n * m); }
void *__wrap_realloc(void *p, size_t n) { gone(p); return noted(realloc(p, n), n); }
void *__wrap_aligned_alloc(size_t a, size_t n) { return noted(aligned_alloc(a, n), n); }
int __wrap_posix_memalign(void **p, size_t a, size_t n) { int e = posix_memalign(p, a, n); if (!e) noted(*p, n); return e; }
void __wrap_free(void *p) { gone(p); free(p); }
void *__wrap__Znwm(size_t n) { return taken("_Znwm", n); }
void *__wrap__Znam(size_t n) { return taken("_Znam", n); }
void __wrap__ZdlPv(void *p) { given("_ZdlPv", p); }
void __wrap__ZdaPv(void *p) { given("_ZdaPv", p); }
void __wrap__ZdlPvm(void *p, size_t n) { given("_ZdlPv", p); }
void __wrap__ZdaPvm(void *p, size_t n) { given("_ZdaPv", p); }

