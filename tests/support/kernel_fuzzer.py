# ruff: noqa: E501 - the long lines are C++ text
"""Random kernels whose memory a host can predict.

A kernel is a list of steps. A region is plain code of one lane (arithmetic of all widths, divergent
branches, loops), the same text for host and device. Between regions lanes meet: shuffles, votes,
exchanges through LDS, atomics. The host runs each step for all lanes before the next, which is what
the device must be indistinguishable from.
"""

from __future__ import annotations

from random import Random

LANES = 256  # of one block: four waves
BLOCKS = 3
INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
FLOATS = ("f32", "f64")

PRELUDE = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
#include <vector>
typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned u32; typedef long long i64; typedef unsigned long long u64;
typedef float f32; typedef double f64;
#define BOTH __host__ __device__
constexpr int LANES = @LANES@, BLOCKS = @BLOCKS@;
// clang before 20 divides sign-extended numbers of few bits as if they were positive: it must not see
// how many bits they have.
template <typename T> BOTH inline T hide(T x) {
#if defined(__HIP_DEVICE_COMPILE__)
  __asm__("" : "+v"(x));
#endif
  return x;
}
// NaN has many encodings and the two sides may choose differently: none leaves an expression. Nor
// does -0: clang 19 for AMDGPU makes 0 - floor(x) into -floor(x).
BOTH inline f32 real(f32 x) { return x == 0 ? 0.0f : x == x ? x : 1.5f; }
BOTH inline f64 real(f64 x) { return x == 0 ? 0.0 : x == x ? x : 2.5; }
BOTH inline f32 tame(f32 x) { return x > -1e9f && x < 1e9f ? x : 3.0f; }
BOTH inline f64 tame(f64 x) { return x > -1e18 && x < 1e18 ? x : 5.0; }
template <typename T> BOTH inline T root(T x) { return x > 0 ? x : -x; }
BOTH inline f32 root_(f32 x) { return __builtin_sqrtf(root(x)); }
BOTH inline f64 root_(f64 x) { return __builtin_sqrt(root(x)); }
BOTH inline f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
BOTH inline f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
""".replace("@LANES@", str(LANES)).replace("@BLOCKS@", str(BLOCKS))


class Generator:
    """One kernel, by its seed."""

    def __init__(self, seed: int, name: str) -> None:
        self.random = Random(seed)
        self.name = name
        self.depth = 0
        kinds = [*INTEGERS, *FLOATS, "i32", "u32", "f32", "u64"]
        self.variables = [f"{kind}_{i}" for i, kind in enumerate(kinds)]

    def source(self) -> str:
        fields = " ".join(f"{v.split('_')[0]} {v};" for v in self.variables)
        steps: list[tuple[str, str, str]] = []  # (definitions, device line, host line)
        for index in range(self.random.randint(3, 6)):
            steps.append(self.region(index))
            steps.append(self.meeting())
        steps.append(self.region(99))
        definitions = "".join(step[0] for step in steps)
        keep = "states[{0} * LANES * BLOCKS + id] = s;"
        device = "\n  ".join(f"{step[1]} {keep.format(i)}" for i, step in enumerate(steps))
        keep = "for (u32 lane = 0; lane < LANES; ++lane) states[({0} * BLOCKS + block) * LANES + lane] = all[lane];"
        host = "\n  ".join(f"{step[2]}\n  {keep.format(i)}" for i, step in enumerate(steps))
        compare = " ".join(
            f'if (bits_of(a.{v}) != bits_of(b.{v})) std::printf(" {v} %llx not %llx", bits_of(a.{v}), bits_of(b.{v}));'
            for v in self.variables
        )
        start = " ".join(self.initial(v) for v in self.variables)
        return f"""
namespace {self.name} {{
struct State {{ {fields} }};
template <typename T> BOTH inline u64 bits_of(T x) {{ u64 b = 0; __builtin_memcpy(&b, &x, sizeof x); return b; }}
BOTH inline void start(State& s, u32 id) {{ u64 r = id * 0x9E3779B97F4A7C15ull + {self.random.getrandbits(32)}u;
  {start} }}
void show(const State& a, const State& b) {{ {compare} }}
constexpr int steps = {len(steps)};
{definitions}
__global__ void kernel(State* states, u32* cells) {{
  __shared__ u64 lds[LANES];
  u32 lane = threadIdx.x, id = blockIdx.x * LANES + lane;
  State s;
  __builtin_memset(&s, 0, sizeof s);
  start(s, id);
  {device}
}}
void host(State* states, u32* cells) {{
  for (int block = 0; block < BLOCKS; ++block) {{
  std::vector<State> all(LANES); std::memset((void*)all.data(), 0, sizeof(State) * LANES);
  for (u32 lane = 0; lane < LANES; ++lane) start(all[lane], block * LANES + lane);
  {host}
  }}
}}
}}
"""

    def initial(self, variable: str) -> str:
        kind = variable.split("_")[0]
        turn = f"r = r * 6364136223846793005ull + {self.random.getrandbits(30)}u;"
        if kind in FLOATS:
            return f"{turn} s.{variable} = ({kind})((i64)(r >> 40) - 4000000) / ({kind}){self.random.choice([1, 3, 7, 1024, 999983])};"
        return f"{turn} s.{variable} = ({kind})(r >> 20);"

    # ---- code of one lane

    def region(self, index: int) -> tuple[str, str, str]:
        body = "\n  ".join(self.statement() for _ in range(self.random.randint(3, 8)))
        definition = f"BOTH inline void region{index}(State& s, u32 lane) {{\n  {body}\n}}\n"
        return (
            definition,
            f"region{index}(s, lane);",
            f"for (u32 lane = 0; lane < LANES; ++lane) region{index}(all[lane], lane);",
        )

    def statement(self) -> str:
        choice = self.random.random()
        if self.depth >= 3 or choice < 0.66:
            return self.assignment()
        self.depth += 1
        body = " ".join(self.statement() for _ in range(self.random.randint(1, 3)))
        if choice < 0.86:
            other = ""
            if self.random.random() < 0.6:
                other = f" else {{ {self.statement()} }}"
            text = f"if ({self.condition()}) {{ {body} }}{other}"
        else:
            count = f"((u32){self.integer()} & {self.random.choice([3, 7, 15])}u)"
            leave = f" if ({self.condition()}) break;" if self.random.random() < 0.4 else ""
            text = f"for (u32 n = {count}; n; --n) {{ {body}{leave} }}"
        self.depth -= 1
        return text

    def assignment(self) -> str:
        variable = self.random.choice(self.variables)
        kind = variable.split("_")[0]
        if kind in FLOATS:
            return f"s.{variable} = real({self.real(kind, 2)});"
        return f"s.{variable} = ({kind})({self.integer(2)});"

    def condition(self) -> str:
        if self.random.random() < 0.3:
            kind = self.random.choice(FLOATS)
            return f"{self.real(kind)} {self.random.choice(['<', '>', '<=', '==', '!='])} {self.real(kind)}"
        if self.random.random() < 0.3:
            return f"(lane & {self.random.choice([1, 2, 4, 32, 96])}u)"
        return f"({self.integer(1)}) {self.random.choice(['<', '>', '<=', '==', '!='])} ({self.integer()})"

    def integer(self, depth: int = 0) -> str:
        r = self.random
        if depth <= 0 or r.random() < 0.2:
            if r.random() < 0.3:
                return r.choice(
                    [
                        f"{r.randint(-9, 300)}",
                        f"{r.getrandbits(31)}",
                        f"0x{r.getrandbits(62):x}ll",
                        "(i32)lane",
                    ]
                )
            return f"s.{r.choice([v for v in self.variables if v[0] != 'f'])}"
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        t = r.choice(["u32", "u64", "u32", "u64", "u16", "u8"])
        wide = "u64" if t == "u64" else "u32"
        signed = "i64" if wide == "u64" else "i32"
        mask = 63 if wide == "u64" else 31
        return r.choice(
            [
                f"(({wide}){a} + ({wide}){b})",
                f"(({wide}){a} - ({wide}){b})",
                f"(({wide})({t}){a} * ({wide})({t}){b})",
                f"(({wide}){a} & ({wide}){b})",
                f"(({wide}){a} | ({wide}){b})",
                f"(({wide}){a} ^ ({wide}){b})",
                f"(~({wide}){a})",
                f"(({wide}){a} << (({wide}){b} & {mask}))",
                f"(({wide}){a} >> (({wide}){b} & {mask}))",
                f"(({signed}){a} >> (({wide}){b} & {mask}))",
                f"(hide(({wide}){a}) / hide(({wide}){b} | 1))",
                f"(hide(({wide}){a}) % hide(({wide}){b} | 1))",
                f"(hide(({signed}){a}) / hide(({signed})((({wide}){b} & 0xffff) + 1)))",
                f"(hide(({signed}){a}) % hide(({signed})((({wide}){b} & 0xffff) + 1)))",
                f"(({wide})__builtin_popcountll((u64){a}))",
                f"(({wide})__builtin_clz((u32){a} | 1u))",
                f"(({wide})__builtin_ctzll((u64){a} | (1ull << 40)))",
                f"(({wide})__builtin_bitreverse32((u32){a}))",
                f"(({wide})__builtin_bswap64((u64){a}))",
                f"(({signed}){a} < ({signed}){b} ? ({signed}){a} : ({signed}){b})",
                f"(({wide}){a} > ({wide}){b} ? ({wide}){a} : ({wide}){b})",
                f"(({wide})(((unsigned __int128)(u64){a} * (u64){b}) >> 64))",
                f"(({wide})(i32)tame({self.real('f32', depth - 1)}))",
                f"(({wide})(i64)tame({self.real('f64', depth - 1)}))",
            ]
        )

    def real(self, kind: str, depth: int = 0) -> str:
        r = self.random
        if depth <= 0 or r.random() < 0.2:
            if r.random() < 0.2:
                return f"({kind}){r.choice([0.5, -3.25, 1e-3, 7.0, 1e10, -0.0, 1e-30])}"
            return f"s.{r.choice([v for v in self.variables if v.startswith(kind)])}"
        a, b = self.real(kind, depth - 1), self.real(kind, depth - 1)
        other = "f64" if kind == "f32" else "f32"
        small = "i32" if kind == "f32" else "i64"
        return r.choice(
            [
                f"({a} + {b})",
                f"({a} - {b})",
                f"({a} * {b})",
                f"({a} / {b})",
                f"(-{a})",
                f"fused({a}, {b}, {self.real(kind)})",
                f"root_({a})",
                f"({kind})({self.real(other, depth - 1)})",
                f"({kind})({small})({self.integer(depth - 1)})",
                f"({kind})({'u32' if kind == 'f32' else 'u64'})({self.integer(depth - 1)})",
                f"({a} < {b} ? {a} : {b})",
                f"__builtin_floor{'f' if kind == 'f32' else ''}({a})",
                f"__builtin_trunc{'f' if kind == 'f32' else ''}({a})",
                f"__builtin_rint{'f' if kind == 'f32' else ''}({a})",
                f"__builtin_fabs{'f' if kind == 'f32' else ''}({a})",
            ]
        )

    # ---- where lanes meet

    def meeting(self) -> tuple[str, str, str]:
        r = self.random
        v = r.choice(self.variables)
        kind = v.split("_")[0]
        wave = "u32 first = lane & ~63u;"
        gather = (
            f"std::vector<{kind}> old(LANES); for (u32 i = 0; i < LANES; ++i) old[i] = all[i].{v};"
        )
        loop = "for (u32 lane = 0; lane < LANES; ++lane)"

        def pair(device: str, source_lane: str) -> tuple[str, str, str]:
            host = f"{{ {gather} {loop} {{ {wave} (void)first; all[lane].{v} = old[{source_lane}]; }} }}"
            return "", device, host

        shuffle = "i32" if kind in ("i8", "i16") else "u32" if kind in ("u8", "u16") else kind
        n = r.choice([1, 2, 3, 7, 16, 32])
        cast = f"s.{v} = ({kind})"
        choice = r.randrange(7)
        if choice == 0:
            return pair(f"{cast}__shfl_xor(({shuffle})s.{v}, {n});", f"first + ((lane & 63) ^ {n})")
        if choice == 1:
            return pair(
                f"{cast}__shfl_up(({shuffle})s.{v}, {n}u);",
                f"(lane & 63) >= {n}u ? lane - {n} : lane",
            )
        if choice == 2:
            return pair(
                f"{cast}__shfl(({shuffle})s.{v}, (int)(lane * 5 + {n}), 32);",
                f"(lane & ~31u) + ((lane * 5 + {n}) & 31)",
            )
        if choice == 3:  # a vote, and how many lanes below say yes
            name, target = r.choice([x for x in self.variables if x[0] != "f"]), self._u64()
            device = (
                f"{{ u64 m = __ballot((int)((u64)s.{name} & 1));"
                f" s.{target} ^= m + __popcll(m & ((1ull << (lane & 63)) - 1)); }}"
            )
            host = (
                f"{{ std::vector<u64> votes(LANES / 64); {loop} if ((u64)all[lane].{name} & 1) votes[lane / 64] |= 1ull << (lane & 63);"
                f" {loop} {{ u64 m = votes[lane / 64]; all[lane].{target} ^= m + __builtin_popcountll(m & ((1ull << (lane & 63)) - 1)); }} }}"
            )
            return "", device, host
        if choice in (4, 5):  # through LDS, across waves
            step = r.choice([1, 17, 63, 64, 100, 255])
            device = (
                f"__syncthreads(); lds[lane] = bits_of(s.{v}); __syncthreads();"
                f" {{ u64 b = lds[(lane + {step}) % LANES]; __builtin_memcpy(&s.{v}, &b, sizeof s.{v}); }}"
            )
            return pair(device, f"(lane + {step}) % LANES")
        # Atomics on memory: sums, minima and so on do not depend on the order.
        w = r.choice([x for x in self.variables if x.startswith(("i32", "u32"))])
        cell = f"(s.{w} & 15u)"
        name, host_op = r.choice(
            [
                ("atomicAdd", "c += x"),
                ("atomicOr", "c |= x"),
                ("atomicXor", "c ^= x"),
                ("atomicMax", "c = c > x ? c : x"),
                ("atomicMin", "c = c < x ? c : x"),
            ]
        )
        base = {"atomicAdd": 0, "atomicOr": 16, "atomicXor": 32, "atomicMax": 48, "atomicMin": 64}[
            name
        ]
        device = f"{name}(&cells[{base} + {cell}], (u32)s.{w} * 2654435761u);"
        host = f"{loop} {{ State& s = all[lane]; u32& c = cells[{base} + {cell}]; u32 x = (u32)s.{w} * 2654435761u; {host_op}; }}"
        return "", device, host

    def _u64(self) -> str:
        return next(v for v in self.variables if v.startswith("u64"))


def program(seeds: list[int]) -> str:
    """All kernels of these seeds in one program; prints one line per kernel, fails on a difference."""
    names = [f"kernel{seed}" for seed in seeds]
    bodies = "".join(
        Generator(seed, name).source() for seed, name in zip(seeds, names, strict=True)
    )
    checks = "\n".join(
        f'  failures += check<{n}::State>("{n}", {n}::kernel, {n}::host, {n}::show, {n}::steps);'
        for n in names
    )
    return (
        PRELUDE
        + bodies
        + CHECK
        + f"int main() {{\n  int failures = 0;\n{checks}\n  return failures;\n}}\n"
    )


CHECK = """
// Run both, compare what each lane holds after each step, name the first difference.
template <typename State> int check(const char* name, void (*kernel)(State*, u32*), void (*host)(State*, u32*),
                                    void (*show)(const State&, const State&), int steps) {
  const int count = LANES * BLOCKS, cells = 80, all = steps * count;
  std::vector<State> got(all), want(all);
  std::vector<u32> got_cells(cells), want_cells(cells);
  State* states; u32* memory;
  if (hipMalloc(&states, all * sizeof(State)) != hipSuccess || hipMalloc(&memory, cells * 4) != hipSuccess) return 100;
  (void)hipMemset(memory, 0, cells * 4);
  kernel<<<BLOCKS, LANES>>>(states, memory);
  if (hipDeviceSynchronize() != hipSuccess) { std::printf("%s FAULT\\n", name); return 1; }
  (void)hipMemcpy(got.data(), states, all * sizeof(State), hipMemcpyDeviceToHost);
  (void)hipMemcpy(got_cells.data(), memory, cells * 4, hipMemcpyDeviceToHost);
  (void)hipFree(states); (void)hipFree(memory);
  host(want.data(), want_cells.data());
  for (int i = 0; i < all; ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(State)) == 0) continue;
    std::printf("%s DIFFERS in step %d, thread %d:", name, i / count, i % count);
    show(got[i], want[i]);
    std::printf("\\n");
    return 1;
  }
  bool same = got_cells == want_cells;
  std::printf("%s %s\\n", name, same ? "same" : "DIFFERS in the cells of its atomics");
  return !same;
}
"""
