// What translated blocks are written with. Compiled with the lane functions of the executor (lanes/), after
// a `struct Wave` and a `struct Inst` with the parts that are named here at their places.

namespace {

using namespace gpu::translated;
constexpr u64 kAll = ~u64(0);
constexpr int kStrip = 16;

typedef u32 Words __attribute__((ext_vector_type(16), aligned(4)));
typedef bool Flags __attribute__((ext_vector_type(16)));

#define STRIPS _Pragma("clang loop vectorize(disable) unroll(disable)") for (int s = 0; s < 64; s += kStrip)
// A loop that is unrolled first is vectorised across strips instead, with a gather for each row.
#define LANES                                                                                     \
  _Pragma("clang loop vectorize(assume_safety) vectorize_width(16) interleave(disable) unroll(disable)") \
  for (int l = 0; l < kStrip; ++l)
#define BLOCK __attribute__((noinline)) const Inst*
#define COLD __attribute__((noinline, cold))

// Sixteen words of ones or noughts as sixteen bits, and back.
inline u64 collect(const u32* words) {
  const Flags flags = __builtin_convertvector(*reinterpret_cast<const Words*>(words) >> 31, Flags);
  return __builtin_bit_cast(unsigned short, flags);
}
inline void expand(u64 bits, u32* words) {
  STRIPS {
    const auto flags = __builtin_bit_cast(Flags, static_cast<unsigned short>(bits >> s));
    *reinterpret_cast<Words*>(words + s) = u32(0) - __builtin_convertvector(flags, Words);
  }
}
inline const u32* mask_row(Wave& w) {
  if (!w.mask_valid || w.mask_exec != w.exec) {
    expand(w.exec, w.mask_row);
    w.mask_exec = w.exec;
    w.mask_valid = true;
  }
  return w.mask_row;
}

inline u64 join(u32 low, u32 high) { return low | u64(high) << 32; }
inline u64 pair(const Wave& w, u32 code) { return join(w.sgpr[code], w.sgpr[code + 1]); }
inline u32 blend(u32 on, u32 now, u32 old) { return (now & on) | (old & ~on); }

// ---- the table's bodies on one lane's registers: `each` and `each_sat` of exec/valu.h for one lane

template <class T, class Raw>
inline typename T::V in(Raw x) {
  if constexpr (T::rows == 2) {
    return __builtin_bit_cast(typename T::V, u64(x));
  } else {
    const u32 word = u32(x);
    return T::get(&word, 0);
  }
}
template <class T>
inline auto out(typename T::V v) {
  if constexpr (T::rows == 2) {
    return __builtin_bit_cast(u64, v);
  } else {
    u32 word;
    T::put(&word, 0, v);
    return word;
  }
}
template <class Op>
inline u32 half(u32 a, u32 b, u32 c) {
  return out<typename Op::D>(Op::f(in<typename Op::A>(a), in<typename Op::B>(b), in<typename Op::C>(c)));
}
template <class Op, class A, class B, class C>
inline auto apply(A a, B b, C c) {
  if constexpr (Op::halves) {
    const u32 low = half<Op>(a & 0xffffu, b & 0xffffu, c & 0xffffu);
    return low | half<Op>(a >> 16, b >> 16, c >> 16) << 16;
  } else if constexpr (Op::pairs) {
    return join(half<Op>(u32(a), u32(b), u32(c)), half<Op>(u32(a >> 32), u32(u64(b) >> 32), u32(u64(c) >> 32)));
  } else {
    return out<typename Op::D>(Op::f(in<typename Op::A>(a), in<typename Op::B>(b), in<typename Op::C>(c)));
  }
}
template <class Op, class A, class B, class C>
inline auto saturated(A a, B b, C c) {
  const auto one = [](u32 x, u32 y, u32 z) {
    return out<typename Op::D>(Op::sat(in<typename Op::A>(x), in<typename Op::B>(y), in<typename Op::C>(z)));
  };
  if constexpr (Op::halves) return (one(a, b, c) & 0xffffu) | one(a >> 16, b >> 16, c >> 16) << 16;
  else return out<typename Op::D>(Op::sat(in<typename Op::A>(a), in<typename Op::B>(b), in<typename Op::C>(c)));
}
template <class Op, class A, class B>
inline u32 compared(A a, B b) {
  return Op::f(in<typename Op::A>(a), in<typename Op::B>(b), 0) ? ~0u : 0u;
}
// Bodies that give a flag beside their result, and those that take one.
template <class Op, class A, class B, class C>
inline auto flagged(A a, B b, C c, u32& flag) {
  bool carry = false;
  const auto r = out<typename Op::D>(Op::f(in<typename Op::A>(a), in<typename Op::B>(b), in<typename Op::C>(c), carry));
  flag = carry ? ~0u : 0u;
  return r;
}
template <class Op, class A, class B, class C>
inline auto by_flag(A a, B b, C c, u32 flag) {
  return out<typename Op::D>(Op::f(in<typename Op::A>(a), in<typename Op::B>(b), in<typename Op::C>(c), flag != 0));
}

struct Below {
  u32 word[2][64];
  constexpr Below() : word{} {
    for (int l = 0; l < 64; ++l) {
      const u64 below = (u64(1) << l) - 1;
      word[0][l] = u32(below), word[1][l] = u32(below >> 32);
    }
  }
};
constexpr Below kBelow;

// ---- scalars: the names that the table's scalar bodies use

struct Scalar {
  enum Kind { Register, Constant, Special } kind;
  u32 code;
  u64 value;
};
struct Fields {
  i32 imm;
  u32 dst;
  Scalar src[2];
};
template <class V>
inline V read_scalar(const Wave& w, const Scalar& s) {
  if (s.kind == Scalar::Constant) return V(s.value);
  if (s.kind == Scalar::Special) return V(special(w, s.code));
  return read_dst<V>(w, s.code);
}

// ---- the interpreter's part

inline bool interpreted(Wave& w, const Inst* i) { return i->fn(w, i) != nullptr; }
// A block counts its instructions when it begins: those of [from, end) have not been executed.
COLD const Inst* uncounted(Wave& w, const Inst* from, const Inst* end) {
  for (const Inst* i = from; i != end; i = i->next) {
    --w.executed;
    --w.counts[i->cls];
  }
  return from;
}
COLD const Inst* stopped(Wave& w, const Inst* from, const Inst* end) {
  uncounted(w, from, end);
  return nullptr;
}

}  // namespace
