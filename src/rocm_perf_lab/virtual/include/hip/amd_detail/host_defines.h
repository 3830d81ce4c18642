// ROCm keeps this part here; some programs include it by that name.
#pragma once

#include <hip/host_defines.h>
