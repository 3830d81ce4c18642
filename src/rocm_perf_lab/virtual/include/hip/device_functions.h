// Part of the device side, which comes whole.
#pragma once

#include <hip/hip_runtime.h>
