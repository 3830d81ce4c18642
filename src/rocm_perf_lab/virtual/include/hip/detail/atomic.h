// atomic* at device scope, *_system and *_block at theirs; memory order is relaxed, as CUDA says.
#pragma once
#pragma clang system_header

#include <hip/detail/integer.h>

#define __F__ __HIP_DEVICE_FN__

#define __HIP_FETCH__(NAME, T, OP, SUFFIX, SCOPE) \
  __F__ T NAME##SUFFIX(T* address, T value) { \
    return __hip_atomic_##OP(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##SCOPE); \
  }
#define __HIP_FETCH_SCOPES__(NAME, T, OP) \
  __HIP_FETCH__(NAME, T, OP, , AGENT) \
  __HIP_FETCH__(NAME, T, OP, _system, SYSTEM) \
  __HIP_FETCH__(NAME, T, OP, _block, WORKGROUP)
#define __HIP_INTEGERS__(X, NAME, OP) \
  X(NAME, int, OP) X(NAME, unsigned, OP) X(NAME, long, OP) X(NAME, unsigned long, OP) \
  X(NAME, long long, OP) X(NAME, unsigned long long, OP)
#define __HIP_NUMBERS__(X, NAME, OP) __HIP_INTEGERS__(X, NAME, OP) X(NAME, float, OP) X(NAME, double, OP)

__HIP_NUMBERS__(__HIP_FETCH_SCOPES__, atomicAdd, fetch_add)
__HIP_NUMBERS__(__HIP_FETCH_SCOPES__, atomicExch, exchange)
__HIP_NUMBERS__(__HIP_FETCH_SCOPES__, atomicMin, fetch_min)
__HIP_NUMBERS__(__HIP_FETCH_SCOPES__, atomicMax, fetch_max)
__HIP_INTEGERS__(__HIP_FETCH_SCOPES__, atomicAnd, fetch_and)
__HIP_INTEGERS__(__HIP_FETCH_SCOPES__, atomicOr, fetch_or)
__HIP_INTEGERS__(__HIP_FETCH_SCOPES__, atomicXor, fetch_xor)

#define __HIP_SUB__(NAME, T, SUFFIX) \
  __F__ T atomicSub##SUFFIX(T* address, T value) { return atomicAdd##SUFFIX(address, (T)-value); }
#define __HIP_SUB_SCOPES__(NAME, T, OP) \
  __HIP_SUB__(NAME, T, ) __HIP_SUB__(NAME, T, _system) __HIP_SUB__(NAME, T, _block)
__HIP_NUMBERS__(__HIP_SUB_SCOPES__, atomicSub, )
#undef __HIP_SUB__
#undef __HIP_SUB_SCOPES__

#define __HIP_CAS__(T, SUFFIX, SCOPE) \
  __F__ T atomicCAS##SUFFIX(T* address, T compare, T value) { \
    __hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
                                         __HIP_MEMORY_SCOPE_##SCOPE); \
    return compare; \
  }
#define __HIP_CAS_SCOPES__(NAME, T, OP) \
  __HIP_CAS__(T, , AGENT) __HIP_CAS__(T, _system, SYSTEM) __HIP_CAS__(T, _block, WORKGROUP)
__HIP_INTEGERS__(__HIP_CAS_SCOPES__, , )
// Sixteen bits, and floats by their bits.
__HIP_CAS_SCOPES__(, unsigned short, )
#define __HIP_CAS_FLOAT__(T, U, SUFFIX) \
  __F__ T atomicCAS##SUFFIX(T* address, T compare, T value) { \
    return __hip_bit_cast<T>(atomicCAS##SUFFIX((U*)address, __hip_bit_cast<U>(compare), __hip_bit_cast<U>(value))); \
  }
__HIP_CAS_FLOAT__(float, unsigned, )
__HIP_CAS_FLOAT__(float, unsigned, _system)
__HIP_CAS_FLOAT__(float, unsigned, _block)
__HIP_CAS_FLOAT__(double, unsigned long long, )
__HIP_CAS_FLOAT__(double, unsigned long long, _system)
__HIP_CAS_FLOAT__(double, unsigned long long, _block)
#undef __HIP_CAS_FLOAT__
#undef __HIP_CAS__
#undef __HIP_CAS_SCOPES__
#undef __HIP_FETCH__
#undef __HIP_FETCH_SCOPES__
#undef __HIP_INTEGERS__
#undef __HIP_NUMBERS__

#if defined(__HIP_DEVICE_COMPILE__)
#define __HIP_WRAP__(NAME, BUILTIN, SUFFIX, SCOPE) \
  __F__ unsigned NAME##SUFFIX(unsigned* address, unsigned limit) { \
    return BUILTIN(address, limit, __ATOMIC_RELAXED, SCOPE); \
  }
#else
#define __HIP_WRAP__(NAME, BUILTIN, SUFFIX, SCOPE) \
  __F__ unsigned NAME##SUFFIX(unsigned* address, unsigned) { return *address; }
#endif
#define __HIP_WRAP_SCOPES__(NAME, BUILTIN) \
  __HIP_WRAP__(NAME, BUILTIN, , "agent") __HIP_WRAP__(NAME, BUILTIN, _system, "") \
  __HIP_WRAP__(NAME, BUILTIN, _block, "workgroup")
__HIP_WRAP_SCOPES__(atomicInc, __builtin_amdgcn_atomic_inc32)
__HIP_WRAP_SCOPES__(atomicDec, __builtin_amdgcn_atomic_dec32)
#undef __HIP_WRAP__
#undef __HIP_WRAP_SCOPES__

// The hardware's floating-point adds, where the plain ones may be a compare-and-swap loop.
#if defined(__HIP_DEVICE_COMPILE__)
__F__ float unsafeAtomicAdd(float* address, float value) {
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
  return __builtin_amdgcn_flat_atomic_fadd_f32((__attribute__((address_space(0))) float*)address, value);
#else
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#endif
}
__F__ double unsafeAtomicAdd(double* address, double value) {
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
  return __builtin_amdgcn_flat_atomic_fadd_f64((__attribute__((address_space(0))) double*)address, value);
#else
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#endif
}
#else
__F__ float unsafeAtomicAdd(float* address, float) { return *address; }
__F__ double unsafeAtomicAdd(double* address, double) { return *address; }
#endif
__F__ float safeAtomicAdd(float* address, float value) { return atomicAdd(address, value); }
__F__ double safeAtomicAdd(double* address, double value) { return atomicAdd(address, value); }
__F__ float unsafeAtomicMin(float* address, float value) { return atomicMin(address, value); }
__F__ double unsafeAtomicMin(double* address, double value) { return atomicMin(address, value); }
__F__ float unsafeAtomicMax(float* address, float value) { return atomicMax(address, value); }
__F__ double unsafeAtomicMax(double* address, double value) { return atomicMax(address, value); }
__F__ float safeAtomicMin(float* address, float value) { return atomicMin(address, value); }
__F__ double safeAtomicMin(double* address, double value) { return atomicMin(address, value); }
__F__ float safeAtomicMax(float* address, float value) { return atomicMax(address, value); }
__F__ double safeAtomicMax(double* address, double value) { return atomicMax(address, value); }
__F__ void atomicAddNoRet(float* address, float value) { (void)unsafeAtomicAdd(address, value); }

#undef __F__
