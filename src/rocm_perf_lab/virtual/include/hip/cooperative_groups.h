// CUDA spells it in the plural.
#pragma once

#include <hip/hip_cooperative_groups.h>
