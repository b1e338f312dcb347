// CUDA arrays, textures and surfaces.
#include "asking.h"

static Word shape_of(struct cudaChannelFormatDesc d) { return d.x | (Word)d.y << 8 | (Word)d.z << 16 | (Word)d.w << 24 | (Word)d.f << 32; }
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f) {
    struct cudaChannelFormatDesc d = {x, y, z, w, f};
    return d;
}
cudaError_t cudaMallocArray(cudaArray_t *a, const struct cudaChannelFormatDesc *d, size_t w, size_t h, unsigned flags) { return ASK(W(a), shape_of(*d), w, h, 0, flags); }
cudaError_t cudaMalloc3DArray(cudaArray_t *a, const struct cudaChannelFormatDesc *d, struct cudaExtent e, unsigned flags) { return ASK(W(a), shape_of(*d), e.width, e.height, e.depth, flags); }
cudaError_t cudaFreeArray(cudaArray_t a) { return ASK(W(a)); }
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *d, struct cudaExtent *e, unsigned *flags, cudaArray_t a) {
    Word found[9] = {0}; // bits of x, y, z, w, the kind, width, height, depth, flags
    cudaError_t error = ASK(W(a), W(found));
    if (error) return error;
    if (d) d->x = found[0], d->y = found[1], d->z = found[2], d->w = found[3], d->f = (enum cudaChannelFormatKind)found[4];
    if (e) e->width = found[5], e->height = found[6], e->depth = found[7];
    if (flags) *flags = found[8];
    return error;
}
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *d, cudaArray_const_t a) { return cudaArrayGetInfo(d, NULL, NULL, (cudaArray_t)a); }

// A copy of boxes. Each end is an array or a pitched pointer, with the byte and rows to begin at.
static cudaError_t copy_box(const char *name, Word stream, cudaArray_const_t to_array, struct cudaPitchedPtr to, struct cudaPos to_at,
                            cudaArray_const_t from_array, struct cudaPitchedPtr from, struct cudaPos from_at,
                            struct cudaExtent extent, int kind) {
    return (cudaError_t)ANSWER(name, stream, W(to_array), W(to.ptr), to.pitch, to.ysize, to_at.x, to_at.y, to_at.z,
                               W(from_array), W(from.ptr), from.pitch, from.ysize, from_at.x, from_at.y, from_at.z,
                               extent.width, extent.height, extent.depth, kind);
}
cudaError_t emulator_copy_3d(const char *name, Word stream, const struct cudaMemcpy3DParms *p) {
    return copy_box(name, stream, p->dstArray, p->dstPtr, p->dstPos, p->srcArray, p->srcPtr, p->srcPos, p->extent, p->kind);
}
#define RAW(pointer, pitch_) ((struct cudaPitchedPtr){(void *)(pointer), pitch_, pitch_, 1})
#define NOTHING RAW(NULL, 0)
#define AT(x, y) ((struct cudaPos){x, y, 0})
#define BOX(w, h) ((struct cudaExtent){w, h, 1})
cudaError_t cudaMemcpy2DToArray(cudaArray_t a, size_t x, size_t y, const void *s, size_t pitch, size_t w, size_t h, enum cudaMemcpyKind k) { return copy_box(__func__, NO_STREAM, a, NOTHING, AT(x, y), NULL, RAW(s, pitch), AT(0, 0), BOX(w, h), k); }
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t a, size_t x, size_t y, const void *s, size_t pitch, size_t w, size_t h, enum cudaMemcpyKind k, cudaStream_t st) { return copy_box(__func__, W(st), a, NOTHING, AT(x, y), NULL, RAW(s, pitch), AT(0, 0), BOX(w, h), k); }
cudaError_t cudaMemcpy2DFromArray(void *d, size_t pitch, cudaArray_const_t a, size_t x, size_t y, size_t w, size_t h, enum cudaMemcpyKind k) { return copy_box(__func__, NO_STREAM, NULL, RAW(d, pitch), AT(0, 0), a, NOTHING, AT(x, y), BOX(w, h), k); }
cudaError_t cudaMemcpy2DFromArrayAsync(void *d, size_t pitch, cudaArray_const_t a, size_t x, size_t y, size_t w, size_t h, enum cudaMemcpyKind k, cudaStream_t st) { return copy_box(__func__, W(st), NULL, RAW(d, pitch), AT(0, 0), a, NOTHING, AT(x, y), BOX(w, h), k); }
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t d, size_t dx, size_t dy, cudaArray_const_t s, size_t sx, size_t sy, size_t w, size_t h, enum cudaMemcpyKind k) { return copy_box(__func__, NO_STREAM, d, NOTHING, AT(dx, dy), s, NOTHING, AT(sx, sy), BOX(w, h), k); }
#undef cudaMemcpyToArray
#undef cudaMemcpyFromArray
cudaError_t cudaMemcpyToArray(cudaArray_t a, size_t x, size_t y, const void *s, size_t n, enum cudaMemcpyKind k) { return ASK(W(a), x, y, W(s), n, k, 1); }
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t a, size_t x, size_t y, const void *s, size_t n, enum cudaMemcpyKind k, cudaStream_t st) { return (cudaError_t)ANSWER("cudaMemcpyToArray", W(st), W(a), x, y, W(s), n, k, 1); }
cudaError_t cudaMemcpyFromArray(void *d, cudaArray_const_t a, size_t x, size_t y, size_t n, enum cudaMemcpyKind k) { return (cudaError_t)ANSWER("cudaMemcpyToArray", NO_STREAM, W(a), x, y, W(d), n, k, 0); }
cudaError_t cudaMemcpyFromArrayAsync(void *d, cudaArray_const_t a, size_t x, size_t y, size_t n, enum cudaMemcpyKind k, cudaStream_t st) { return (cudaError_t)ANSWER("cudaMemcpyToArray", W(st), W(a), x, y, W(d), n, k, 0); }

// A resource in words: its kind, array or address, channels, bytes or width, height, pitch.
static int resource(const struct cudaResourceDesc *r, Word *words) {
    words[0] = r->resType;
    switch (r->resType) {
    case cudaResourceTypeArray: words[1] = W(r->res.array.array); return 1;
    case cudaResourceTypeLinear:
        words[1] = W(r->res.linear.devPtr), words[2] = shape_of(r->res.linear.desc), words[3] = r->res.linear.sizeInBytes;
        return 1;
    case cudaResourceTypePitch2D:
        words[1] = W(r->res.pitch2D.devPtr), words[2] = shape_of(r->res.pitch2D.desc), words[3] = r->res.pitch2D.width;
        words[4] = r->res.pitch2D.height, words[5] = r->res.pitch2D.pitchInBytes;
        return 1;
    default: return 0;
    }
}
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *r, const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *v) {
    Word words[6] = {0};
    if (!resource(r, words)) emulator_missing("cudaCreateTextureObject of a mipmapped array");
    if (v) emulator_missing("cudaCreateTextureObject with a resource view");
    if (t->sRGB) emulator_missing("cudaCreateTextureObject with sRGB");
    Word colours[4];
    for (int n = 0; n < 4; n++) {
        double colour = t->borderColor[n];
        memcpy(colours + n, &colour, sizeof colour);
    }
    return ASK(W(object), W(words), t->addressMode[0], t->addressMode[1], t->addressMode[2], t->filterMode, t->readMode,
               t->normalizedCoords, colours[0], colours[1], colours[2], colours[3]);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { return ASK(object); }
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *r) {
    Word words[6] = {0};
    if (!resource(r, words)) emulator_missing("cudaCreateSurfaceObject of a mipmapped array");
    return ASK(W(object), W(words));
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return ASK(object); }
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *n, const struct cudaChannelFormatDesc *d, int device) { *n = (size_t)1 << 27; return cudaSuccess; }
