// What libraries with handles and scalars share. Their headers needn't be here.
#pragma once
#include "asking.h"

typedef struct Handle {
    Word magic;
    cudaStream_t stream;
    int device_scalars, math, atomics; // pointer mode, and two modes of cuBLAS
} *H;
typedef const void *P;
enum { MAGIC = 0x626c6173, NOT_INITIALIZED = 1 };

static int is_handle(H h) { return h && h->magic == MAGIC; }
static H made_handle(void) {
    H h = calloc(1, sizeof *h);
    h->magic = MAGIC;
    return h;
}
static int destroyed(H h) {
    if (!is_handle(h)) return NOT_INITIALIZED;
    h->magic = 0; // and kept, so that a later use is noticed
    return 0;
}
// An earlier fault makes a call fail: that is an error of the runtime, and greater than a library's.
static int status_of(Word answer, int failed) { return answer >= 100 ? failed : (int)answer; }
static int bytes_of(int type) { return type == 5 ? 16 : type == 1 || type == 4 ? 8 : type == 2 || type == 14 ? 2 : 4; }
// The type of alpha and beta, of a cublasComputeType_t and the type of C.
static int scalar_of(int compute, int type) {
    if (compute == 64 || compute == 65) return 2;
    if (compute == 72 || compute == 73) return 10;
    int wide = compute == 70 || compute == 71 || compute == 79, complex = type == 4 || type == 5;
    return wide + 4 * complex;
}
// A scalar in four words: its type, its address in device memory or 0, and the bytes of one of the host.
static Word address_of(H h, P p) { return !p ? -1 : h->device_scalars ? W(p) : 0; }
static Word half_of(H h, P p, int type, int at) {
    Word word = 0;
    int left = bytes_of(type) - 8 * at;
    if (p && !h->device_scalars && left > 0) memcpy(&word, (const char *)p + 8 * at, left < 8 ? left : 8);
    return word;
}
#define SCALAR(p, type) (Word)(type), address_of(h, p), half_of(h, p, type, 0), half_of(h, p, type, 1)
