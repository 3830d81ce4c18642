// Programs: lazily decoded code, and the loop that runs a wave over it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <unordered_map>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#include <xmmintrin.h>
#endif

#include "exec.h"
#include "run_one.h"

namespace gpu {

namespace base {
extern const ExecFn exec_table[];
}
#if defined(GPU_HAVE_AVX2)
namespace avx2 {
extern const ExecFn exec_table[];
}
#endif

namespace {

#if defined(GPU_HAVE_AVX2)
// By hand: __builtin_cpu_supports refers to a symbol that some linkers refuse in a shared library.
bool has_avx2() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  constexpr unsigned kFma = 1u << 12, kSavedByOs = 1u << 27, kF16c = 1u << 29;
  if ((c & (kFma | kSavedByOs | kF16c)) != (kFma | kSavedByOs | kF16c)) return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6) != 6) return false;  // the system keeps SSE and AVX registers
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kBmi = 1u << 3, kAvx2 = 1u << 5, kBmi2 = 1u << 8;
  return (b & (kBmi | kAvx2 | kBmi2)) == (kBmi | kAvx2 | kBmi2);
}
#endif

const ExecFn* exec_table() {
#if defined(GPU_HAVE_AVX2)
  static const ExecFn* chosen = [] {
    const char* no = std::getenv("ROCM_PERF_PORTABLE");
    return has_avx2() && !(no && *no == '1') ? avx2::exec_table : base::exec_table;
  }();
  return chosen;
#else
  return base::exec_table;
#endif
}

const Inst* illegal(Wave& w, const Inst* i) {
  w.fault = Fault{};
  w.fault.kind = FaultKind::IllegalInstruction;
  w.fault.pc = w.pc = i->pc;
  w.fault.address = i->word[0] | (uint64_t(i->word[1]) << 32);
  w.fault.size = 8;
  w.stop = Stop::Fault;
  return nullptr;
}
// Execution ran past the end of the code.
const Inst* off_end(Wave& w, const Inst* i) {
  w.fault = Fault{};
  w.fault.kind = FaultKind::Unmapped;
  w.fault.pc = w.fault.address = w.pc = i->pc;
  w.fault.size = 4;
  w.stop = Stop::Fault;
  return nullptr;
}

// Constant operands, one row per distinct value.
class Pool final : public ConstantRows {
 public:
  uintptr_t vector(uint64_t value) override {
    auto [it, fresh] = vectors_.try_emplace(value, nullptr);
    if (fresh) {
      rows_.emplace_back();
      Row& row = rows_.back();
      std::fill_n(row.word, 64, uint32_t(value));
      std::fill_n(row.word + 64, 64, uint32_t(value >> 32));
      it->second = row.word;
    }
    return reinterpret_cast<uintptr_t>(it->second);
  }
  uintptr_t scalar(uint64_t value) override {
    auto [it, fresh] = scalars_.try_emplace(value, nullptr);
    if (fresh) {
      pairs_.push_back({uint32_t(value), uint32_t(value >> 32)});
      it->second = pairs_.back().data();
    }
    return reinterpret_cast<uintptr_t>(it->second);
  }

 private:
  struct Row {
    alignas(64) uint32_t word[128];
  };
  std::deque<Row> rows_;
  std::deque<std::array<uint32_t, 2>> pairs_;
  std::unordered_map<uint64_t, uint32_t*> vectors_, scalars_;
};

std::atomic<uint64_t> next_serial{0};

// Whether the target is in the instruction.
bool jumps(const Inst& i) {
  return op_table[i.op].cls == InstClass::BRANCH &&
         (i.format == uint8_t(Format::SOPP) || i.format == uint8_t(Format::SOPK));
}

}  // namespace

struct Program::Storage {
  std::mutex mutex;
  Pool pool;
  size_t slots = 0;
  Inst* inst = nullptr;                     // one per word, then two that fault
  std::unique_ptr<std::atomic<uint8_t>[]> ready;  // everything reachable from here is decoded
  std::atomic<uint32_t> need{0};                  // the most of any Inst::need, by halves
  std::atomic<bool> reads_clock{false};
  std::atomic<bool> translated{false};  // some of it
  ~Storage() { std::free(inst); }
};

Program::Program(uint64_t base, uint64_t end, Arch arch)
    : base_(base),
      end_(base + ((end - base) & ~uint64_t(3))),
      serial_(next_serial.fetch_add(1)),
      arch_(arch),
      storage_(std::make_unique<Storage>()) {
  Storage& s = *storage_;
  s.slots = size_t(end_ - base_) / 4;
  // Zeroed by the system page by page, so untouched code costs nothing.
  s.inst = static_cast<Inst*>(std::calloc(s.slots + 4, sizeof(Inst)));
  if (!s.inst) throw std::bad_alloc();
  s.ready = std::make_unique<std::atomic<uint8_t>[]>(s.slots);
  for (size_t n = s.slots; n < s.slots + 4; ++n) {
    s.inst[n] = Inst{};
    s.inst[n].fn = off_end;
    s.inst[n].next = &s.inst[n];
    s.inst[n].pc = base_ + 4 * n;
  }
}

Program::~Program() = default;

const Inst* Program::at(uint64_t pc) {
  if (!contains(pc) || (pc & 3)) return nullptr;
  Storage& s = *storage_;
  const size_t start = size_t(pc - base_) / 4;
  if (s.ready[start].load(std::memory_order_acquire)) return &s.inst[start];

  const std::lock_guard lock(s.mutex);
  const auto* code = reinterpret_cast<const uint32_t*>(base_);
  uint32_t need = s.need.load(std::memory_order_relaxed);
  std::vector<size_t> work{start};
  while (!work.empty()) {
    size_t n = work.back();
    work.pop_back();
    while (n < s.slots && !s.inst[n].fn) {
      Inst& i = s.inst[n];
      const bool known = decode(code + n, unsigned(std::min<size_t>(3, s.slots - n)), arch_, s.pool, i);
      if (!known) {
        i = Inst{};
        i.word[0] = code[n];
        i.word[1] = n + 1 < s.slots ? code[n + 1] : 0;
      }
      i.pc = base_ + 4 * n;
      i.next = &i + i.words;
      need = std::max(need & 0xffffu, i.need & 0xffffu) | std::max(need >> 16, i.need >> 16) << 16;
      i.fn = known ? exec_table()[i.op] : illegal;
      if (!known) break;
      const OpInfo& op = op_table[i.op];
      if (op.cls == InstClass::SMEM_TIME) s.reads_clock.store(true, std::memory_order_relaxed);
      if (jumps(i)) {
        const int64_t target = int64_t(n) + 1 + i.imm;
        if (target < 0 || target > int64_t(s.slots)) i.fn = illegal;
        else work.push_back(size_t(target));
      }
      if (op.flags & kOpNoFallThrough) break;
      n += i.words;
    }
  }
  s.need.store(need, std::memory_order_relaxed);
  s.ready[start].store(1, std::memory_order_release);
  return &s.inst[start];
}

std::vector<const Inst*> Program::reachable(uint64_t pc) {
  const Inst* first = at(pc);
  if (!first) return {};
  Storage& s = *storage_;
  std::vector<const Inst*> found, work{first};
  std::vector<bool> seen(s.slots);
  while (!work.empty()) {
    const Inst* i = work.back();
    work.pop_back();
    for (; size_t(i - s.inst) < s.slots && !seen[size_t(i - s.inst)]; i = i->next) {
      if (!i->fn || i->fn == illegal) return {};
      seen[size_t(i - s.inst)] = true;
      found.push_back(i);
      if (jumps(*i)) work.push_back(i + 1 + i->imm);
      if (op_table[i->op].flags & kOpNoFallThrough) break;
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void Program::install(uint64_t pc, BlockFn block) {
  if (!contains(pc) || (pc & 3)) return;
  Inst& first = storage_->inst[size_t(pc - base_) / 4];
  __atomic_store_n(&first.block, block, __ATOMIC_RELEASE);
  storage_->translated.store(true, std::memory_order_release);
}

bool Program::reads_clock() const { return storage_->reads_clock.load(std::memory_order_relaxed); }

bool Program::translated() const { return storage_->translated.load(std::memory_order_acquire); }

bool Program::within_registers(uint32_t vgprs, uint32_t agprs) const {
  const uint32_t need = storage_->need.load(std::memory_order_relaxed);
  return (need & 0xffff) <= vgprs && need >> 16 <= agprs;
}

namespace {

// MODE: both rounding fields nearest, all denormals kept, no register indexing.
constexpr uint32_t kModeMask = 0xffu | (1u << 27), kModeUsual = 0xf0;

#if defined(__x86_64__)
class HostFloat {
 public:
  HostFloat() : saved_(_mm_getcsr()) {}
  ~HostFloat() { _mm_setcsr(saved_); }
  // MODE's round: 0 even, 1 up, 2 down, 3 zero; MXCSR's: 0 even, 1 down, 2 up, 3 zero.
  void set(uint32_t mode, int which) {
    uint32_t csr = saved_ & ~0xe040u;
    if (which) {
      const uint32_t round = (mode >> (which == 1 ? 0 : 2)) & 3, denorm = (mode >> (which == 1 ? 4 : 6)) & 3;
      csr |= (round == 1 ? 2u : round == 2 ? 1u : round) << 13;
      if (!(denorm & 1)) csr |= 0x40u;     // inputs flushed
      if (!(denorm & 2)) csr |= 0x8000u;   // results flushed
    }
    _mm_setcsr(csr);
  }

 private:
  uint32_t saved_;
};
#else
struct HostFloat {
  void set(uint32_t, int) {}
};
#endif

bool indexed(const Inst& i) {
  const Format f = Format(i.format);
  return f == Format::VOP1 || f == Format::VOP2 || f == Format::VOPC || f == Format::VOP3 || f == Format::VOP3P ||
         f == Format::SDWA || f == Format::DPP;
}

// s_set_gpr_idx: M0[7:0] is added to the register numbers that M0[15:12] enables.
Inst shifted(const Inst& i, uint32_t m0) {
  Inst copy = i;
  const uint32_t index = m0 & 255, enable = (m0 >> 12) & 15;
  for (int k = 0; k < 3; ++k) {
    Source& s = copy.src[k];
    if (s.kind != Source::Vector || !((enable >> k) & 1)) continue;
    s.at += size_t(index) * 256;
    s.code = uint16_t(s.code + index);
  }
  if (enable & 8) copy.dst = uint16_t(copy.dst + index);
  return copy;
}

const Inst* run_indexed(Wave& w, const Inst* i) {
  const Inst copy[1] = {shifted(*i, w.m0)};
  const uint32_t index = w.m0 & 255, enable = (w.m0 >> 12) & 15;
  if ((i->need & 0xffff) + index > w.acc_offset && enable) {
    uint32_t high = 0;
    for (int k = 0; k < 3; ++k)
      if (copy->src[k].kind == Source::Vector) high = std::max<uint32_t>(high, copy->src[k].code);
    high = std::max<uint32_t>(high, copy->dst);
    if (high >= w.acc_offset) {
      w.fault = Fault{};
      w.fault.kind = FaultKind::IllegalRegister;
      w.fault.pc = w.pc = i->pc;
      w.fault.address = high;
      w.stop = Stop::Fault;
      return nullptr;
    }
  }
  return i->fn(w, copy);
}

Stop lacking(Wave& w, const Inst* i) {
  w.fault = Fault{};
  w.fault.kind = FaultKind::IllegalRegister;
  w.fault.pc = w.pc = i->pc;
  w.fault.address = i->need;
  return Stop::Fault;
}

template <bool kObserved, bool kModed, bool kChecked>
Stop loop(Wave& w, const Inst* i, uint64_t until, Observer* observer) {
  // Subtracting needs from limits leaves both guard bits set when everything is there.
  [[maybe_unused]] const uint32_t limit = 0x80008000u + w.acc_offset + (uint32_t(w.vgpr_count - w.acc_offset) << 16);
  [[maybe_unused]] HostFloat host;
  [[maybe_unused]] MemAccess access;
  if constexpr (kObserved) {
    w.access = &access;
    access.watcher = observer->watcher();
  }
  w.unchecked = !kChecked;
  for (uint64_t executed = w.executed; executed < until;) {
    if constexpr (kChecked) {
      if (__builtin_expect(((limit - i->need) & 0x80008000u) != 0x80008000u, 0)) return lacking(w, i);
    }
    ++w.counts[i->cls];
    w.executed = ++executed;
    [[maybe_unused]] const Inst* current = i;
    [[maybe_unused]] const uint64_t exec = w.exec;
    if constexpr (kObserved) access.space = Space::None;
    if constexpr (kModed) {
      host.set(w.mode, op_table[i->op].fp_mode);
      i = (w.mode >> 27) & 1 && indexed(*i) ? run_indexed(w, i) : i->fn(w, i);
      host.set(0xf0, 0);
    } else {
      i = i->fn(w, i);
    }
    if constexpr (kObserved) {
      if (i || (w.stop != Stop::Fault && w.stop != kAgain)) observer->executed(w, *current, exec, access);
    }
    if (__builtin_expect(!i, 0)) return w.stop;
  }
  w.pc = i->pc;
  return Stop::Budget;
}

// What was translated runs as host code; between that, and where it gives up, instructions are interpreted.
// A turn ends at the same instruction either way.
Stop translated_loop(Wave& w, const Inst* i, uint64_t until) {
  w.unchecked = true;
  while (w.executed < until) {
    if (const BlockFn block = __atomic_load_n(&i->block, __ATOMIC_ACQUIRE)) {
      i = block(w, i, until);
      if (!i) return w.stop;
      if (w.executed >= until) break;
    }
    ++w.counts[i->cls];
    ++w.executed;
    i = i->fn(w, i);
    if (!i) return w.stop;
  }
  w.pc = i->pc;
  return Stop::Budget;
}

template <bool kObserved>
Stop run(Wave& w, Program& program, uint64_t budget, Observer* observer) {
  w.program = &program;
  if (w.memory && w.ranges.snapshot != w.memory->number) w.ranges = {w.memory->number, {}};
  if (w.acc_offset == 0) w.acc_offset = std::min<uint16_t>(w.vgpr_count, 256);
  const uint64_t until = w.executed + budget;
  Stop stop = Stop::Budget;
  do {
    const Inst* i = program.at(w.pc);
    if (!i) {
      w.fault = Fault{};
      w.fault.kind = FaultKind::Unmapped;
      w.fault.pc = w.fault.address = w.pc;
      w.fault.size = 4;
      stop = Stop::Fault;
      break;
    }
    const bool moded = (w.mode & kModeMask) != kModeUsual;
    const bool checked = !program.within_registers(w.acc_offset, uint32_t(w.vgpr_count - w.acc_offset));
    const bool host = !kObserved && !w.stops_at_waits && w.together < 2 && program.translated();
    stop = moded     ? loop<kObserved, true, true>(w, i, until, observer)
           : checked ? loop<kObserved, false, true>(w, i, until, observer)
           : host    ? translated_loop(w, i, until)
                     : loop<kObserved, false, false>(w, i, until, observer);
  } while (stop == kRemode);
  w.access = nullptr;
  return stop == kAgain ? Stop::Budget : stop;
}

}  // namespace

void run_one(Wave& w, const Inst& i) {
  if ((w.mode & kModeMask) == kModeUsual) {
    i.fn(w, &i);
    return;
  }
  HostFloat host;
  host.set(w.mode, op_table[i.op].fp_mode);
  if ((w.mode >> 27) & 1 && indexed(i)) run_indexed(w, &i);
  else i.fn(w, &i);
}

bool moved_registers(const Wave& wave, const Inst& inst, Inst& moved) {
  if (!((wave.mode >> 27) & 1) || !indexed(inst)) return false;
  moved = shifted(inst, wave.m0);
  return true;
}

Stop run_wave(Wave& wave, Program& program, uint64_t budget) { return run<false>(wave, program, budget, nullptr); }
Stop run_wave_observed(Wave& wave, Program& program, uint64_t budget, Observer& observer) {
  return run<true>(wave, program, budget, &observer);
}

void reset(Wave& w) {
  constexpr size_t state = offsetof(Wave, sgpr);
  std::memset(reinterpret_cast<char*>(&w) + state, 0, sizeof(Wave) - state);
  w.exec = ~uint64_t(0);
  w.mode = 0x3f0;  // nearest, denormals kept, dx10_clamp, ieee: the amdhsa default
}

}  // namespace gpu
