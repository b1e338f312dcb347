// cuRAND's host functions: the numbers are NumPy's.
#include "asking.h"

static Word bits_of(double value) { Word word; memcpy(&word, &value, 8); return word; }
int curandCreateGenerator(void **g, int type) { return (int)ASK(W(g), type, 1); }
int curandCreateGeneratorHost(void **g, int type) { return (int)ASK_AS("curandCreateGenerator", W(g), type, 0); }
int curandDestroyGenerator(void *g) { return 0; }
int curandSetPseudoRandomGeneratorSeed(void *g, unsigned long long seed) { return (int)ASK(W(g), seed); }
int curandSetGeneratorOffset(void *g, unsigned long long offset) { return 0; }
int curandSetGeneratorOrdering(void *g, int order) { return 0; }
int curandSetStream(void *g, void *stream) { return 0; }
int curandGetVersion(int *version) { *version = 10000 + CUDART_VERSION / 1000; return 0; }
enum { BITS, UNIFORM, NORMAL, LOG_NORMAL, POISSON };
#define DRAW(g, out, n, law, size, a, b) (int)ASK_AS("curand_draw", W(g), W(out), n, law, size, bits_of(a), bits_of(b))
int curandGenerate(void *g, unsigned *out, size_t n) { return DRAW(g, out, n, BITS, 4, 0, 0); }
int curandGenerateLongLong(void *g, unsigned long long *out, size_t n) { return DRAW(g, out, n, BITS, 8, 0, 0); }
int curandGenerateUniform(void *g, float *out, size_t n) { return DRAW(g, out, n, UNIFORM, 4, 0, 0); }
int curandGenerateUniformDouble(void *g, double *out, size_t n) { return DRAW(g, out, n, UNIFORM, 8, 0, 0); }
int curandGenerateNormal(void *g, float *out, size_t n, float mean, float deviation) { return DRAW(g, out, n, NORMAL, 4, mean, deviation); }
int curandGenerateNormalDouble(void *g, double *out, size_t n, double mean, double deviation) { return DRAW(g, out, n, NORMAL, 8, mean, deviation); }
int curandGenerateLogNormal(void *g, float *out, size_t n, float mean, float deviation) { return DRAW(g, out, n, LOG_NORMAL, 4, mean, deviation); }
int curandGenerateLogNormalDouble(void *g, double *out, size_t n, double mean, double deviation) { return DRAW(g, out, n, LOG_NORMAL, 8, mean, deviation); }
int curandGeneratePoisson(void *g, unsigned *out, size_t n, double mean) { return DRAW(g, out, n, POISSON, 4, mean, 0); }
