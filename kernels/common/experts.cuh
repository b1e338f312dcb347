// What the kernels that sort assignments by expert agree on.

#pragma once

#ifndef EXPERTS
#define EXPERTS 64 // at most 256
#endif
#ifndef CHUNK
#define CHUNK 1024 // assignments of a block, and its threads
#endif
