// The sizes that the kernels share which sort assignments by expert.

#pragma once

#ifndef EXPERTS
#define EXPERTS 64 // at most 256
#endif
#ifndef CHUNK
#define CHUNK 1024 // assignments of a block, and its threads
#endif
