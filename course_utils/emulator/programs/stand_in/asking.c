// Our runtime library: it replaces the CUDA runtime. A program's host code calls these functions in
// its own process. Each packs its arguments into words and asks Python, where the emulator runs. We
// compile it with the headers of the compiler that built the program, so both have the same structs.
#include "asking.h"
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

typedef Word (*Answer)(const char *name, Word stream, int count, Word *words);
enum { FRAMES = 16 };

static Answer answer;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static __thread int asking;
void *emulator_frames[FRAMES]; // return addresses of the callers, innermost first
int emulator_frame_count;
int emulator_runtime_used;

Word emulator_ask(const char *name, Word stream, int count, Word *words) {
    pthread_mutex_lock(&lock);
    asking++;
    if (!strncmp(name, "cuda", 4)) emulator_runtime_used = 1;
    emulator_frame_count = backtrace(emulator_frames, FRAMES);
    Word result = answer ? answer(name, stream, count, words) : cudaErrorInitializationError;
    asking--;
    pthread_mutex_unlock(&lock);
    return result;
}

// --- functions that Python calls ---

static __thread sigjmp_buf copying;
static __thread volatile int is_copying;

static void on_fault(int number, siginfo_t *info, void *context) {
    if (is_copying) siglongjmp(copying, 1);
    if (!asking) {
        Word registers[24];
        int count = 0;
#if defined(__x86_64__)
        for (int n = 0; n < 16; n++) registers[1 + count++] = ((ucontext_t *)context)->uc_mcontext.gregs[n];
#endif
        registers[0] = count;
        emulator_ask("host_fault", NO_STREAM, 1 + count, registers);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void at_end(void) {
    fflush(NULL);
    ASK_AS("program_ends", 0);
}

void emulator_begin(Answer function) {
    answer = function;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    atexit(at_end);
}

// Copies bytes between addresses of this process. Returns 0 if one of them can't be reached.
int emulator_copy(void *to, const void *from, size_t bytes) {
    if (sigsetjmp(copying, 1)) return is_copying = 0;
    is_copying = 1;
    memmove(to, from, bytes);
    is_copying = 0;
    return 1;
}

// Allocates whole pages that host and kernels share. The page after them can't be accessed.
void *emulator_pages(size_t bytes) {
    size_t page = 4096, whole = (bytes + page - 1) / page * page;
    char *start = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    mprotect(start + whole, page, PROT_NONE);
    return start;
}

void emulator_close_pages(void *start, size_t bytes) {
    size_t page = 4096, whole = (bytes + page - 1) / page * page;
    mprotect(start, whole, PROT_NONE);
    madvise(start, whole, MADV_DONTNEED);
}

void emulator_missing(const char *name) {
    fflush(NULL);
    ASK_AS("missing_function", W(name));
    _exit(2);
}

