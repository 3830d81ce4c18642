// What ziglang's libc++ takes for granted and the clang of PyPI's libclang does not have yet. Trees are
// made with it, never code: only the types have to be right.
#pragma once
#if defined(__cplusplus) && !__has_builtin(__builtin_clzg)
template <class T>
constexpr __attribute__((host, device)) int __builtin_clzg(T, int otherwise = 0) { return otherwise; }
template <class T>
constexpr __attribute__((host, device)) int __builtin_ctzg(T, int otherwise = 0) { return otherwise; }
template <class T>
constexpr __attribute__((host, device)) int __builtin_popcountg(T) { return 0; }
#endif
#ifndef __GCC_DESTRUCTIVE_SIZE
#define __GCC_DESTRUCTIVE_SIZE 64
#define __GCC_CONSTRUCTIVE_SIZE 64
#endif
