// What the files of our runtime library share: how a call asks Python for its answer.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long long Word;

enum { NO_STREAM = -1 }; // of a call that isn't put into a stream

// Asks Python for the answer to a call: its words are the arguments, pointers as addresses.
__attribute__((visibility("hidden"))) Word emulator_ask(const char *name, Word stream, int count, Word *words);
#define WORDS(...) (int)(sizeof((Word[]){__VA_ARGS__}) / sizeof(Word)), (Word[]){__VA_ARGS__}
#define ANSWER(name, stream, ...) emulator_ask(name, stream, WORDS(__VA_ARGS__))
#define ASK(...) ((cudaError_t)ANSWER(__func__, NO_STREAM, __VA_ARGS__))
#define ASK_AS(name, ...) ((cudaError_t)ANSWER(name, NO_STREAM, __VA_ARGS__))
#define ASK_IN(stream, ...) ((cudaError_t)ANSWER(__func__, W(stream), __VA_ARGS__))
#define W(x) ((Word)(x))

// Ends the program at a function that isn't here.
void emulator_missing(const char *name);

// Asks for a copy of cudaMemcpy3D's parameters, as the call of that name.
__attribute__((visibility("hidden"))) cudaError_t emulator_copy_3d(const char *name, Word stream, const struct cudaMemcpy3DParms *p);

#define DEVICE_NAME "emulator of an sm_90a GPU"
// Whether the program called the runtime, which then has a context.
extern __attribute__((visibility("hidden"))) int emulator_runtime_used;
