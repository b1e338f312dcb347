// NVRTC defines assert.
#pragma once
