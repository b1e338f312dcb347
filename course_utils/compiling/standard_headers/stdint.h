// The names of <cstdint>, in no namespace.
#pragma once
#include <cstdint>
