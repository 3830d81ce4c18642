// char1 .. double4 with their operators, and make_*.
#pragma once
#if defined(__clang__)
#pragma clang system_header
#endif

#include <hip/detail/attributes.h>

#if defined(__cplusplus)

#if defined(__HIP__)
#define __HIP_VECTOR_FN__ __attribute__((host, device))
#else
#define __HIP_VECTOR_FN__
#endif

#if defined(__clang__)
#define __HIP_NATIVE_VECTOR__(n, T) T __attribute__((ext_vector_type(n)))
#else
#define __HIP_NATIVE_VECTOR__(n, T) T __attribute__((vector_size(sizeof(T) * (n))))
#endif

namespace hip_detail {
template <bool B, typename T = void> struct enable_if {};
template <typename T> struct enable_if<true, T> { using type = T; };
template <typename A, typename B> struct is_same { static constexpr bool value = false; };
template <typename A> struct is_same<A, A> { static constexpr bool value = true; };
// A scalar that may stand beside a vector: anything arithmetic, or a class such as __half.
template <typename T> struct is_scalar_operand { static constexpr bool value = true; };
}  // namespace hip_detail

template <typename T, unsigned int n> struct HIP_vector_base;

template <typename T> struct HIP_vector_base<T, 1> {
  using value_type = T;
  T x;
};
template <typename T> struct HIP_vector_base<T, 2> {
  using value_type = T;
  typedef __HIP_NATIVE_VECTOR__(2, T) Native_vec_;
  union __attribute__((aligned(2 * sizeof(T)))) {
    struct { T x, y; };
    Native_vec_ data;
  };
};
template <typename T> struct HIP_vector_base<T, 3> {
  using value_type = T;
  T x, y, z;
};
template <typename T> struct HIP_vector_base<T, 4> {
  using value_type = T;
  typedef __HIP_NATIVE_VECTOR__(4, T) Native_vec_;
  union __attribute__((aligned(4 * sizeof(T)))) {
    struct { T x, y, z, w; };
    Native_vec_ data;
  };
};

template <typename T, unsigned int n> struct HIP_vector_type;
template <typename T> struct hip_is_vector { static constexpr bool value = false; };
template <typename T, unsigned int n> struct hip_is_vector<HIP_vector_type<T, n>> {
  static constexpr bool value = true;
};
namespace hip_detail {
// Not every host compiler has a built-in for this.
template <typename From, typename To> struct converts {
  static From from() noexcept;
  static char test(To);
  static char (&test(...))[2];
  static constexpr bool value = sizeof(test(from())) == 1;
};
}  // namespace hip_detail
#define __HIP_IF_SCALAR__(U) \
  typename hip_detail::enable_if<!hip_is_vector<U>::value && hip_detail::converts<U, T>::value, int>::type = 0

template <typename T> struct HIP_vector_type<T, 1> : HIP_vector_base<T, 1> {
  using HIP_vector_base<T, 1>::x;
  HIP_vector_type() = default;
  template <typename U, __HIP_IF_SCALAR__(U)>
  __HIP_VECTOR_FN__ constexpr HIP_vector_type(U x_) : HIP_vector_base<T, 1>{static_cast<T>(x_)} {}
  __HIP_VECTOR_FN__ T& operator[](unsigned i) { return (&this->x)[i]; }
  __HIP_VECTOR_FN__ const T& operator[](unsigned i) const { return (&this->x)[i]; }
};

template <typename T> struct HIP_vector_type<T, 2> : HIP_vector_base<T, 2> {
  using HIP_vector_base<T, 2>::x;
  using HIP_vector_base<T, 2>::y;
  HIP_vector_type() = default;
  template <typename U, __HIP_IF_SCALAR__(U)>
  __HIP_VECTOR_FN__ constexpr HIP_vector_type(U s) : HIP_vector_base<T, 2>{{static_cast<T>(s), static_cast<T>(s)}} {}
  template <typename A0, typename A1>
  __HIP_VECTOR_FN__ constexpr HIP_vector_type(A0 x_, A1 y_) : HIP_vector_base<T, 2>{{static_cast<T>(x_), static_cast<T>(y_)}} {}
  __HIP_VECTOR_FN__ HIP_vector_type(const typename HIP_vector_base<T, 2>::Native_vec_& v) { this->data = v; }
  __HIP_VECTOR_FN__ explicit operator typename HIP_vector_base<T, 2>::Native_vec_() const { return this->data; }
  __HIP_VECTOR_FN__ T& operator[](unsigned i) { return (&this->x)[i]; }
  __HIP_VECTOR_FN__ const T& operator[](unsigned i) const { return (&this->x)[i]; }
};

template <typename T> struct HIP_vector_type<T, 3> : HIP_vector_base<T, 3> {
  using HIP_vector_base<T, 3>::x;
  using HIP_vector_base<T, 3>::y;
  using HIP_vector_base<T, 3>::z;
  HIP_vector_type() = default;
  template <typename U, __HIP_IF_SCALAR__(U)>
  __HIP_VECTOR_FN__ constexpr HIP_vector_type(U s) : HIP_vector_base<T, 3>{static_cast<T>(s), static_cast<T>(s), static_cast<T>(s)} {}
  template <typename A0, typename A1, typename A2>
  __HIP_VECTOR_FN__ constexpr HIP_vector_type(A0 x_, A1 y_, A2 z_) : HIP_vector_base<T, 3>{static_cast<T>(x_), static_cast<T>(y_), static_cast<T>(z_)} {}
  __HIP_VECTOR_FN__ T& operator[](unsigned i) { return (&this->x)[i]; }
  __HIP_VECTOR_FN__ const T& operator[](unsigned i) const { return (&this->x)[i]; }
};

template <typename T> struct HIP_vector_type<T, 4> : HIP_vector_base<T, 4> {
  using HIP_vector_base<T, 4>::x;
  using HIP_vector_base<T, 4>::y;
  using HIP_vector_base<T, 4>::z;
  using HIP_vector_base<T, 4>::w;
  HIP_vector_type() = default;
  template <typename U, __HIP_IF_SCALAR__(U)>
  __HIP_VECTOR_FN__ constexpr HIP_vector_type(U s) : HIP_vector_base<T, 4>{{static_cast<T>(s), static_cast<T>(s), static_cast<T>(s), static_cast<T>(s)}} {}
  template <typename A0, typename A1, typename A2, typename A3>
  __HIP_VECTOR_FN__ constexpr HIP_vector_type(A0 x_, A1 y_, A2 z_, A3 w_) : HIP_vector_base<T, 4>{{static_cast<T>(x_), static_cast<T>(y_), static_cast<T>(z_), static_cast<T>(w_)}} {}
  __HIP_VECTOR_FN__ HIP_vector_type(const typename HIP_vector_base<T, 4>::Native_vec_& v) { this->data = v; }
  __HIP_VECTOR_FN__ explicit operator typename HIP_vector_base<T, 4>::Native_vec_() const { return this->data; }
  __HIP_VECTOR_FN__ T& operator[](unsigned i) { return (&this->x)[i]; }
  __HIP_VECTOR_FN__ const T& operator[](unsigned i) const { return (&this->x)[i]; }
};

#define __HIP_V__(n) HIP_vector_type<T, n>
#define __HIP_T__ template <typename T> __HIP_VECTOR_FN__ inline constexpr
#define __HIP_BINARY__(op) \
  __HIP_T__ __HIP_V__(1) operator op(const __HIP_V__(1)& a, const __HIP_V__(1)& b) { \
    return __HIP_V__(1)(static_cast<T>(a.x op b.x)); } \
  __HIP_T__ __HIP_V__(2) operator op(const __HIP_V__(2)& a, const __HIP_V__(2)& b) { \
    return __HIP_V__(2)(static_cast<T>(a.x op b.x), static_cast<T>(a.y op b.y)); } \
  __HIP_T__ __HIP_V__(3) operator op(const __HIP_V__(3)& a, const __HIP_V__(3)& b) { \
    return __HIP_V__(3)(static_cast<T>(a.x op b.x), static_cast<T>(a.y op b.y), static_cast<T>(a.z op b.z)); } \
  __HIP_T__ __HIP_V__(4) operator op(const __HIP_V__(4)& a, const __HIP_V__(4)& b) { \
    return __HIP_V__(4)(static_cast<T>(a.x op b.x), static_cast<T>(a.y op b.y), static_cast<T>(a.z op b.z), static_cast<T>(a.w op b.w)); } \
  template <typename T, unsigned n, typename U, __HIP_IF_SCALAR__(U)> \
  __HIP_VECTOR_FN__ inline constexpr __HIP_V__(n) operator op(const __HIP_V__(n)& a, U b) { \
    return a op __HIP_V__(n)(static_cast<T>(b)); } \
  template <typename T, unsigned n, typename U, __HIP_IF_SCALAR__(U)> \
  __HIP_VECTOR_FN__ inline constexpr __HIP_V__(n) operator op(U a, const __HIP_V__(n)& b) { \
    return __HIP_V__(n)(static_cast<T>(a)) op b; } \
  template <typename T, unsigned n> \
  __HIP_VECTOR_FN__ inline __HIP_V__(n)& operator op##=(__HIP_V__(n)& a, const __HIP_V__(n)& b) { \
    return a = a op b; } \
  template <typename T, unsigned n, typename U, __HIP_IF_SCALAR__(U)> \
  __HIP_VECTOR_FN__ inline __HIP_V__(n)& operator op##=(__HIP_V__(n)& a, U b) { \
    return a = a op b; }
__HIP_BINARY__(+)
__HIP_BINARY__(-)
__HIP_BINARY__(*)
__HIP_BINARY__(/)
__HIP_BINARY__(%)
__HIP_BINARY__(&)
__HIP_BINARY__(|)
__HIP_BINARY__(^)
__HIP_BINARY__(<<)
__HIP_BINARY__(>>)
#undef __HIP_BINARY__

#define __HIP_UNARY__(op) \
  __HIP_T__ __HIP_V__(1) operator op(const __HIP_V__(1)& a) { \
    return __HIP_V__(1)(static_cast<T>(op a.x)); } \
  __HIP_T__ __HIP_V__(2) operator op(const __HIP_V__(2)& a) { \
    return __HIP_V__(2)(static_cast<T>(op a.x), static_cast<T>(op a.y)); } \
  __HIP_T__ __HIP_V__(3) operator op(const __HIP_V__(3)& a) { \
    return __HIP_V__(3)(static_cast<T>(op a.x), static_cast<T>(op a.y), static_cast<T>(op a.z)); } \
  __HIP_T__ __HIP_V__(4) operator op(const __HIP_V__(4)& a) { \
    return __HIP_V__(4)(static_cast<T>(op a.x), static_cast<T>(op a.y), static_cast<T>(op a.z), static_cast<T>(op a.w)); }
__HIP_UNARY__(-)
__HIP_UNARY__(~)
#undef __HIP_UNARY__
__HIP_T__ bool operator==(const __HIP_V__(1)& a, const __HIP_V__(1)& b) {
  return a.x == b.x; }
__HIP_T__ bool operator==(const __HIP_V__(2)& a, const __HIP_V__(2)& b) {
  return a.x == b.x && a.y == b.y; }
__HIP_T__ bool operator==(const __HIP_V__(3)& a, const __HIP_V__(3)& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z; }
__HIP_T__ bool operator==(const __HIP_V__(4)& a, const __HIP_V__(4)& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }
template <typename T, unsigned n>
__HIP_VECTOR_FN__ inline constexpr bool operator!=(const __HIP_V__(n)& a, const __HIP_V__(n)& b) { return !(a == b); }
template <typename T, unsigned n, typename U, __HIP_IF_SCALAR__(U)>
__HIP_VECTOR_FN__ inline constexpr bool operator==(const __HIP_V__(n)& a, U b) { return a == __HIP_V__(n)(b); }
template <typename T, unsigned n, typename U, __HIP_IF_SCALAR__(U)>
__HIP_VECTOR_FN__ inline constexpr bool operator!=(const __HIP_V__(n)& a, U b) { return !(a == b); }
template <typename T, unsigned n, typename U, __HIP_IF_SCALAR__(U)>
__HIP_VECTOR_FN__ inline constexpr bool operator==(U a, const __HIP_V__(n)& b) { return __HIP_V__(n)(a) == b; }
template <typename T, unsigned n, typename U, __HIP_IF_SCALAR__(U)>
__HIP_VECTOR_FN__ inline constexpr bool operator!=(U a, const __HIP_V__(n)& b) { return !(a == b); }
template <typename T, unsigned n>
__HIP_VECTOR_FN__ inline __HIP_V__(n)& operator++(__HIP_V__(n)& a) { return a = a + T(1); }
template <typename T, unsigned n>
__HIP_VECTOR_FN__ inline __HIP_V__(n)& operator--(__HIP_V__(n)& a) { return a = a - T(1); }
template <typename T, unsigned n>
__HIP_VECTOR_FN__ inline __HIP_V__(n) operator++(__HIP_V__(n)& a, int) { auto old = a; a = a + T(1); return old; }
template <typename T, unsigned n>
__HIP_VECTOR_FN__ inline __HIP_V__(n) operator--(__HIP_V__(n)& a, int) { auto old = a; a = a - T(1); return old; }

#undef __HIP_V__
#undef __HIP_T__

#define __HIP_VECTOR_TYPES__(NAME, T) \
  using NAME##1 = HIP_vector_type<T, 1>; \
  using NAME##2 = HIP_vector_type<T, 2>; \
  using NAME##3 = HIP_vector_type<T, 3>; \
  using NAME##4 = HIP_vector_type<T, 4>; \
  __HIP_VECTOR_FN__ static inline constexpr NAME##1 make_##NAME##1(T x) { return NAME##1(x); } \
  __HIP_VECTOR_FN__ static inline constexpr NAME##2 make_##NAME##2(T x, T y) { return NAME##2(x, y); } \
  __HIP_VECTOR_FN__ static inline constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3(x, y, z); } \
  __HIP_VECTOR_FN__ static inline constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return NAME##4(x, y, z, w); }

#else  // C: the layout alone

#define __HIP_VECTOR_TYPES__(NAME, T) \
  typedef struct { T x; } NAME##1; \
  typedef struct __attribute__((aligned(2 * sizeof(T)))) { T x, y; } NAME##2; \
  typedef struct { T x, y, z; } NAME##3; \
  typedef struct __attribute__((aligned(4 * sizeof(T)))) { T x, y, z, w; } NAME##4;
#endif

__HIP_VECTOR_TYPES__(char, char)
__HIP_VECTOR_TYPES__(uchar, unsigned char)
__HIP_VECTOR_TYPES__(short, short)
__HIP_VECTOR_TYPES__(ushort, unsigned short)
__HIP_VECTOR_TYPES__(int, int)
__HIP_VECTOR_TYPES__(uint, unsigned int)
__HIP_VECTOR_TYPES__(long, long)
__HIP_VECTOR_TYPES__(ulong, unsigned long)
__HIP_VECTOR_TYPES__(longlong, long long)
__HIP_VECTOR_TYPES__(ulonglong, unsigned long long)
__HIP_VECTOR_TYPES__(float, float)
__HIP_VECTOR_TYPES__(double, double)
#undef __HIP_VECTOR_TYPES__
