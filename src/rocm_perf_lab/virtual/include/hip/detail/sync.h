// Barriers, fences and clocks.
#pragma once
#pragma clang system_header

#include <hip/detail/warp.h>

#define __F__ __HIP_DEVICE_FN__

__F__ void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__F__ void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__F__ void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

__F__ void __hip_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static inline __attribute__((device, always_inline, convergent, unused)) void __syncthreads() { __hip_barrier(); }
__F__ void __barrier(int) { __hip_barrier(); }
__F__ void __named_sync() { __builtin_amdgcn_s_barrier(); }
__F__ void __work_group_barrier(unsigned) { __hip_barrier(); }

extern "C" {
__attribute__((device, convergent)) int __rocm_perf_syncthreads_count(int predicate);
}
static inline __attribute__((device, always_inline, convergent, unused)) int __syncthreads_count(int predicate) {
  return __rocm_perf_syncthreads_count(predicate != 0);
}
static inline __attribute__((device, always_inline, convergent, unused)) int __syncthreads_or(int predicate) {
  return __rocm_perf_syncthreads_count(predicate != 0) != 0;
}
static inline __attribute__((device, always_inline, convergent, unused)) int __syncthreads_and(int predicate) {
  return __rocm_perf_syncthreads_count(predicate == 0) == 0;
}

// Core clock cycles; the constant 100 MHz clock.
__F__ long long __clock64() { return (long long)__builtin_readcyclecounter(); }
__F__ long long clock64() { return __clock64(); }
__F__ long long __clock() { return __clock64(); }
__F__ long long wall_clock64() { return (long long)__builtin_amdgcn_s_memrealtime(); }
__F__ long long clock() { return __clock64(); }
__F__ unsigned __smid() { return __builtin_amdgcn_s_getreg(((16 - 1) << 11) | (8 << 6) | 4) & 0xffu; }
__F__ void __nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }

// Address spaces.
__F__ bool __isShared(const void* p) { return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void*)p); }
__F__ bool __isLocal(const void* p) { return __builtin_amdgcn_is_private((const __attribute__((address_space(0))) void*)p); }
__F__ bool __isGlobal(const void* p) { return !__isShared(p) && !__isLocal(p); }
__F__ bool __isConstant(const void* p) { return !__isShared(p) && !__isLocal(p); }
__F__ unsigned __cvta_generic_to_shared(const void* p) { return (unsigned)(unsigned long)p; }

__F__ void* __local_to_generic(void* p) { return p; }
#if defined(__HIP_DEVICE_COMPILE__)
// Dynamic LDS begins where the variables of fixed size end.
__F__ void* __amdgcn_get_dynamicgroupbaseptr() {
  return (void*)((__attribute__((address_space(3))) char*)0 + __builtin_amdgcn_groupstaticsize());
}
#else
__F__ void* __amdgcn_get_dynamicgroupbaseptr() { return nullptr; }
#endif
__F__ void* __get_dynamicgroupbaseptr() { return __amdgcn_get_dynamicgroupbaseptr(); }
static inline __attribute__((host, unused)) void* __get_dynamicgroupbaseptr() { return nullptr; }

// Read-only and cached loads are plain loads here; numbers and pointers may be marked as passing by.
template <typename T> __HIP_BOTH_FN__ T __ldg(const T* p) { return *p; }
template <typename T> __HIP_BOTH_FN__ T __ldca(const T* p) { return *p; }
template <typename T> __HIP_BOTH_FN__ T __ldcg(const T* p) { return *p; }
namespace hip_detail {
template <bool Simple> struct streamed { template <typename T> static __HIP_BOTH_FN__ T load(const T* p) { return *p; } };
template <> struct streamed<true> { template <typename T> static __HIP_BOTH_FN__ T load(const T* p) { return __builtin_nontemporal_load(p); } };
}  // namespace hip_detail
template <typename T> __HIP_BOTH_FN__ T __ldcs(const T* p) { return hip_detail::streamed<!__is_class(T)>::load(p); }
template <typename T> __F__ T __ldcv(const T* p) { return *p; }
template <typename T> __F__ void __stcg(T* p, T v) { *p = v; }
template <typename T> __F__ void __stcs(T* p, T v) { *p = v; }
template <typename T> __F__ void __stwb(T* p, T v) { *p = v; }
template <typename T> __F__ void __stwt(T* p, T v) { *p = v; }

#undef __F__
