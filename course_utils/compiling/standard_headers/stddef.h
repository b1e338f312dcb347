// The names of <cstddef>, in no namespace.
#pragma once
#include <cstddef>
