#include "reached.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include "record/log.h"

namespace gpu::check {
namespace {

// What can be seen of an instruction: a comparison comes out, a decision is made, lanes part (reached.py).
constexpr uint8_t kRan = 1, kTrue = 2, kFalse = 4, kYes = 8, kNo = 16, kEnter = 32, kStay = 64;

// Where that is read from after the instruction.
enum class Outcome : uint8_t { None, Mask, Choice, Scalar, Vcc, Lanes };

Outcome find(const OpInfo& op) {
  const std::string_view name = op.name;
  if (name.starts_with("v_cmp")) return Outcome::Mask;
  if (name.starts_with("v_cndmask")) return Outcome::Choice;
  if (name.starts_with("s_cbranch_scc") || name.starts_with("s_cselect") || name.starts_with("s_cmov"))
    return Outcome::Scalar;
  if (name.starts_with("s_cbranch_vcc")) return Outcome::Vcc;
  if (name.starts_with("s_and_saveexec") || name.starts_with("s_andn2_saveexec")) return Outcome::Lanes;
  return Outcome::None;
}

Outcome outcome_of(uint16_t op) {
  static const std::vector<Outcome> all = [] {
    std::vector<Outcome> found;
    for (int each = 0; each < kOpCount; ++each) found.push_back(find(op_table[each]));
    return found;
  }();
  return all[op];
}

uint8_t possible(const Inst& inst) {
  switch (outcome_of(inst.op)) {
    case Outcome::None: return kRan;
    case Outcome::Mask: return kRan | kTrue | kFalse;
    case Outcome::Lanes: return kRan | kEnter | kStay;
    default: return kRan | kYes | kNo;
  }
}

uint64_t mask_at(const Wave& wave, uint32_t code) {
  uint64_t out = 0;
  if (code + 1 < kMaxSgprs) std::memcpy(&out, &wave.sgpr[code], sizeof out);
  return out;
}

uint8_t among(uint64_t mask, uint64_t lanes, uint8_t some, uint8_t others) {
  return uint8_t((mask & lanes ? some : 0) | (~mask & lanes ? others : 0));
}

uint8_t went(const Wave& wave, const Inst& inst, uint64_t exec) {
  switch (outcome_of(inst.op)) {
    case Outcome::None: return 0;
    case Outcome::Mask: return among(mask_at(wave, inst.sdst), exec, kTrue, kFalse);
    case Outcome::Choice: {
      const Source& mask = inst.src[2];
      return among(mask.kind == Source::Scalar ? mask_at(wave, mask.code) : wave.vcc, exec, kYes, kNo);
    }
    case Outcome::Scalar: return wave.scc ? kYes : kNo;
    case Outcome::Vcc: return wave.vcc ? kYes : kNo;
    case Outcome::Lanes: return among(wave.exec, exec, kEnter, kStay);
  }
  return 0;
}

bool for_lanes(const Inst& inst) {
  return op_table[inst.op].unit == Unit::Valu || op_table[inst.op].unit == Unit::Vmem;
}

}  // namespace

class ReachedCode {
 public:
  explicit ReachedCode(const Program& program) : seen_((program.end() - program.base()) / 4) {}

  std::atomic<uint8_t>& seen(const Program& program, const Inst& inst) {
    return seen_[size_t(inst.pc - program.base()) / 4];
  }

  // What there is to be reached, once for each kernel.
  void list(const Launch& launch) {
    const std::lock_guard lock(mutex_);
    if (!kernels_.insert(launch.kernel->entry).second) return;
    for (const Inst* inst : launch.program->reachable(launch.kernel->entry)) {
      record::Line line("code");
      place(line, launch, *inst);
      line.number("all", possible(*inst)).write();
    }
  }

  void tell(const Launch& launch, const Inst& inst, uint8_t what) {
    record::Line line("reached");
    place(line, launch, inst);
    line.number("seen", what).write();
  }

 private:
  static void place(record::Line& line, const Launch& launch, const Inst& inst) {
    line.number("at", inst.pc - launch.program->base());
    const std::vector<codeobject::Frame> frames = launch.object->chain(inst.pc);
    if (frames.empty() || !frames.front().line) return;
    const codeobject::Frame& frame = frames.front();
    line.string("file", frame.file).number("line", frame.line).number("column", frame.column);
  }

  std::vector<std::atomic<uint8_t>> seen_;
  std::mutex mutex_;
  std::set<uint64_t> kernels_;
};

namespace {

ReachedCode& code_of(const Launch& launch) {
  static std::mutex mutex;
  static auto& all = *new std::map<uint64_t, std::unique_ptr<ReachedCode>>;  // by the program's number
  const std::lock_guard lock(mutex);
  auto& found = all[launch.program->serial()];
  if (!found) found = std::make_unique<ReachedCode>(*launch.program);
  found->list(launch);
  return *found;
}

}  // namespace

LaunchReached::LaunchReached(const Launch& launch) : launch_(launch), code_(code_of(launch)) {}

void LaunchReached::executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess&) {
  std::atomic<uint8_t>& seen = code_.seen(*launch_.program, inst);
  const uint8_t before = seen.load(std::memory_order_relaxed);
  if (before == possible(inst) || (!exec && for_lanes(inst))) return;
  const uint8_t now = before | kRan | went(wave, inst, exec);
  if (now == before) return;
  seen.store(now, std::memory_order_relaxed);
  code_.tell(launch_, inst, now);
}

}  // namespace gpu::check
