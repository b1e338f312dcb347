// NVRTC declares printf; a kernel has no files.
#pragma once
