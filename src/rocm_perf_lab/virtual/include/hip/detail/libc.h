// The C library functions that device code may call.
#pragma once
#pragma clang system_header

#include <hip/detail/attributes.h>

#if defined(__HIP__) && defined(__cplusplus)
extern "C" {
// The compiler turns calls of printf into calls of __ockl_printf_* (see virtual/devicelib).
__attribute__((device)) int printf(const char* format, ...);
__attribute__((device, noreturn)) void __assert_fail(const char* expression, const char* file,
                                                     unsigned int line, const char* function);
__attribute__((device)) void* __ockl_dm_alloc(unsigned long bytes);
__attribute__((device)) void __ockl_dm_dealloc(unsigned long address);
}

__HIP_DEVICE_FN__ void* malloc(__SIZE_TYPE__ bytes) { return __ockl_dm_alloc(bytes); }
__HIP_DEVICE_FN__ void free(void* pointer) { __ockl_dm_dealloc((unsigned long)pointer); }

__HIP_DEVICE_FN__ void* memcpy(void* to, const void* from, __SIZE_TYPE__ n) { return __builtin_memcpy(to, from, n); }
__HIP_DEVICE_FN__ void* memmove(void* to, const void* from, __SIZE_TYPE__ n) { return __builtin_memmove(to, from, n); }
__HIP_DEVICE_FN__ void* memset(void* to, int value, __SIZE_TYPE__ n) { return __builtin_memset(to, value, n); }

__HIP_DEVICE_FN__ void __trap() { __builtin_trap(); }
__attribute__((device, noreturn, unused)) static inline void abort() { __builtin_trap(); }

// Device side of operator new and delete; the host keeps the standard library's.
__attribute__((device)) inline void* operator new(__SIZE_TYPE__ n) { return malloc(n); }
__attribute__((device)) inline void* operator new[](__SIZE_TYPE__ n) { return malloc(n); }
__attribute__((device)) inline void operator delete(void* p) noexcept { free(p); }
__attribute__((device)) inline void operator delete[](void* p) noexcept { free(p); }
#if __cplusplus >= 201402L
__attribute__((device)) inline void operator delete(void* p, __SIZE_TYPE__) noexcept { free(p); }
__attribute__((device)) inline void operator delete[](void* p, __SIZE_TYPE__) noexcept { free(p); }
#endif
#endif
