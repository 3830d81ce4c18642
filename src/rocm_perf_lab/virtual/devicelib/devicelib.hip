// The device library: what the compiler and the headers call that is not a builtin. Compiled once
// per architecture to bitcode and linked into device code (device/toolchain.py).
#include "base.h"
#include "runtime.h"
#include "rounding.h"
#include "math_exp_log.h"
#include "math_trig.h"
#include "math_misc.h"
#include "math_special.h"
#include "math_export.h"
#include "complex.h"
