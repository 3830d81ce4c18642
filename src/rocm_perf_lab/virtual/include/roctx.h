// ROCm has it under both names.
#pragma once

#include <roctracer/roctx.h>
