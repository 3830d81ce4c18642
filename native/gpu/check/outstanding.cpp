#include "outstanding.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "init_roles.h"
#include "operand_text.h"

namespace gpu::check {
namespace {

using Order = Counted::Order;

bool overlap(const Registers& a, const Registers& b) {
  return a.vector == b.vector && a.first < b.first + b.count && b.first < a.first + a.count && (a.bytes & b.bytes);
}

const char* counter_of(const Outstanding& op) {
  if (op.flat) return "flat";
  if (op.vm) return "vmcnt";
  return op_table[op.inst->op].unit == Unit::Smem ? "scalar" : "lgkmcnt";
}

}  // namespace

bool Counted::in_order_with(const Counted& other) const {
  if (vm != other.vm || lgkm != other.lgkm) return false;
  const Order mine = vm ? vm_order : lgkm_order, its = vm ? other.vm_order : other.lgkm_order;
  return mine != Order::None && mine == its;
}

Counted counted(const Inst& inst) {
  const OpInfo& op = op_table[inst.op];
  Counted out;
  switch (op.unit) {
    case Unit::Vmem:
      out.vm = true;
      out.vm_order = Order::Vector;
      out.flat = out.lgkm = Format(inst.format) == Format::FLAT;
      break;
    case Unit::Lds:
      out.lgkm = true;
      out.lgkm_order = inst.gds ? Order::Gds : Order::Lds;
      break;
    case Unit::Smem: out.lgkm = true; break;
    default: out.lgkm = op.cls == InstClass::SENDMSG;
  }
  return out;
}

void LdsBytes::begin(uint64_t lanes, uint32_t bytes, bool pairs) {
  mask = lanes;
  size = bytes;
  two = pairs;
  low = UINT32_MAX;
  high = 0;
}

void LdsBytes::place(int lane, uint32_t first, uint32_t second) {
  at[0][lane] = first;
  low = std::min(low, first);
  high = std::max(high, first + size);
  if (!two) return;
  at[1][lane] = second;
  low = std::min(low, second);
  high = std::max(high, second + size);
}

bool LdsBytes::meets(const LdsBytes& other, int& lane, int& others, uint32_t& byte) const {
  if (!mask || !other.mask || low >= other.high || other.low >= high) return false;
  const int mine = two ? 2 : 1, its = other.two ? 2 : 1;
  for (uint64_t left = mask; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    for (int m = 0; m < mine; ++m) {
      const uint32_t a = at[m][l];
      for (uint64_t right = other.mask; right; right &= right - 1) {
        const int r = std::countr_zero(right);
        for (int n = 0; n < its; ++n) {
          const uint32_t b = other.at[n][r];
          if (a >= b + other.size || b >= a + size) continue;
          lane = l;
          others = r;
          byte = std::max(a, b);
          return true;
        }
      }
    }
  }
  return false;
}

bool lds_bytes(const Step& step, LdsBytes& bytes) {
  const MemAccess& access = step.access;
  const uint64_t mask = access.space == Space::Lds ? access.mask : access.space == Space::Global ? access.lds_mask : 0;
  bytes.begin(mask, access.size, access.two);
  for (uint64_t left = mask; left; left &= left - 1) {
    const int l = std::countr_zero(left);
    bytes.place(l, uint32_t(access.address[l]), access.two ? uint32_t(access.address2[l]) : 0);
  }
  return mask;
}

uint64_t Outstanding::pending() const {
  if (told || !result.count) return 0;
  if (!result.vector) return lgkm;
  if (flat) return (vm ? lanes & ~lds_lanes : 0) | (lgkm ? lanes & lds_lanes : 0);
  return vm || lgkm ? lanes : 0;
}

void OutstandingOps::begin() {
  for (auto& op : ops_) spare_.push_back(std::move(op));
  ops_.clear();
  std::memset(rows_, 0, sizeof rows_);
  std::memset(codes_, 0, sizeof codes_);
}

void OutstandingOps::count(const Outstanding& op, int by) {
  uint8_t* const at = op.result.vector ? rows_ : codes_;
  const uint32_t end = op.result.vector ? kMaxVgprs : kMaxSgprs;
  for (uint32_t n = op.result.first; n < std::min<uint32_t>(op.result.first + op.result.count, end); ++n)
    at[n] = uint8_t(at[n] + by);
}

void OutstandingOps::release(Outstanding& op) {
  if (op.result.count && !op.told) count(op, -1);
  op.result.count = 0;
}

// An instruction is known to have ended where more of its order than may stay open were issued from it on; one
// of no order, where none may stay open.
void OutstandingOps::wait(uint32_t vm, uint32_t lgkm) {
  uint32_t vector = 0, lds = 0, gds = 0;
  bool gone = false;
  for (auto it = ops_.rbegin(); it != ops_.rend(); ++it) {
    Outstanding& op = **it;
    if (op.vm && (op.vm_order == Order::Vector ? ++vector > vm : vm == 0)) op.vm = false;
    if (op.lgkm) {
      const bool ended = op.lgkm_order == Order::Lds   ? ++lds > lgkm
                         : op.lgkm_order == Order::Gds ? ++gds > lgkm
                                                       : lgkm == 0;
      if (ended) op.lgkm = false;
    }
    gone |= !op.vm && !op.lgkm;
  }
  if (!gone) return;
  size_t kept = 0;
  for (auto& op : ops_) {
    if (op->vm || op->lgkm) {
      if (&op != &ops_[kept]) std::swap(op, ops_[kept]);
      ++kept;
    } else {
      release(*op);
    }
  }
  while (ops_.size() > kept) {
    spare_.push_back(std::move(ops_.back()));
    ops_.pop_back();
  }
}

Outstanding* OutstandingOps::newest(const Registers& used, uint64_t lanes, const Counted* own) {
  for (auto it = ops_.rbegin(); it != ops_.rend(); ++it) {
    Outstanding& op = **it;
    const uint64_t pending = op.pending();
    if (!pending || !overlap(used, op.result) || (used.vector && !(pending & lanes))) continue;
    if (!own || !op.in_order_with(*own)) return &op;
  }
  return nullptr;
}

// The s_waitcnt that would do, by what was issued since.
std::string OutstandingOps::wait_for(const Outstanding& op) const {
  uint32_t vector = 0, lds = 0;
  for (auto it = ops_.rbegin(); it != ops_.rend() && it->get() != &op; ++it) {
    vector += (*it)->vm && (*it)->vm_order == Order::Vector;
    lds += (*it)->lgkm && (*it)->lgkm_order == op.lgkm_order;
  }
  if (op.flat) return "vmcnt(0) lgkmcnt(0)";
  if (op.vm) return format("vmcnt(%u)", op.vm_order == Order::Vector ? vector : 0u);
  return format("lgkmcnt(%u)", op.lgkm_order == Order::None ? 0u : lds);
}

HazardFound OutstandingOps::describe(const Step& step, Outstanding& op, const Registers& used, uint64_t lanes,
                                     bool write) const {
  HazardFound out;
  out.kind = write ? "early-write" : "early-read";
  out.why = counter_of(op);
  const uint32_t at = std::max(used.first, op.result.first);
  const std::string name = used.vector ? vector_text(at, 1) : scalar_text(at, 1);
  out.text = name;
  out.text.append(write ? " may get the result of the first afterwards" : " may not hold the result of the first yet");
  out.text.append(": s_waitcnt ").append(wait_for(op)).append(" waits for it");
  const int lane = used.vector ? std::countr_zero(op.pending() & lanes) : -1;
  const bool atomic = op_table[op.inst->op].flags & kOpAtomic || op_table[op.inst->op].cls == InstClass::LDS_ATOMIC;
  out.first = {op.inst, 0, op.size, lane, atomic ? "atomic update" : "read"};
  out.then = {&step.inst, 0, 0, lane, write ? "writes " : "reads "};
  out.then.access.append(name);
  const int seen = lane < 0 ? 0 : lane;
  if (op.mask >> seen & 1) {
    const bool scratch = op.space == Space::Scratch, lds = op.space == Space::Lds || op.lds_lanes >> seen & 1;
    out.space = lds ? Space::Lds : scratch ? Space::Scratch : op.space;
    out.address = op.address[seen];
  }
  return out;
}

void OutstandingOps::look(const Step& step, std::vector<HazardFound>& found) {
  if (ops_.empty()) return;
  const auto waits = [&](const Registers& used) {
    const uint8_t* const at = used.vector ? rows_ : codes_;
    const uint32_t end = std::min<uint32_t>(used.first + used.count, used.vector ? kMaxVgprs : kMaxSgprs);
    for (uint32_t n = used.first; n < end; ++n)
      if (at[n]) return true;
    return false;
  };
  const auto tell = [&](const Registers& used, bool write, const Counted* own) {
    if (!waits(used)) return;
    const uint64_t lanes = step.lanes_of(used);
    while (Outstanding* op = newest(used, lanes, own)) {
      found.push_back(describe(step, *op, used, lanes, write));
      count(*op, -1);
      op->told = true;
    }
  };
  for (const Registers& read : step.known.registers.reads) tell(read, false, nullptr);
  const Counted own = counted(step.inst);
  for (const Registers& write : step.known.registers.writes) tell(write, true, own.any() ? &own : nullptr);
}

void OutstandingOps::look_at_lds(const Step& step, const LdsBytes& bytes, std::vector<HazardFound>& found) {
  for (auto it = ops_.rbegin(); it != ops_.rend(); ++it) {
    Outstanding& op = **it;
    int lane = -1, writer = -1;
    uint32_t byte = 0;
    if (!op.to_lds || !op.vm || op.told || !bytes.meets(op.writes, lane, writer, byte)) continue;
    op.told = true;
    HazardFound out;
    out.kind = "early-lds";
    out.why = "vmcnt";
    out.text = "the load to LDS may not have written it yet: s_waitcnt ";
    out.text.append(wait_for(op)).append(" waits for it");
    out.first = {op.inst, 0, op.writes.size, writer, "write"};
    out.then = {&step.inst, 0, bytes.size, lane, step.access.write ? "write" : "read"};
    out.space = Space::Lds;
    out.address = byte;
    found.push_back(std::move(out));
  }
}

void OutstandingOps::issue(const Step& step) {
  const Inst& inst = step.inst;
  const Counted how = counted(inst);
  if (!how.any()) return;
  std::unique_ptr<Outstanding> op;
  if (spare_.empty()) {
    op = std::make_unique<Outstanding>();
  } else {
    op = std::move(spare_.back());
    spare_.pop_back();
  }
  static_cast<Counted&>(*op) = how;
  op->inst = &inst;
  op->told = false;
  op->result = {};
  op->writes.mask = 0;
  op->lanes = step.exec;
  const MemAccess& access = step.access;
  op->space = access.space;
  op->size = access.size;
  op->mask = access.space == Space::None     ? 0
             : access.space == Space::Scalar ? 1
                                             : access.mask | access.lds_mask | access.scratch_mask;
  op->lds_lanes = access.space == Space::Global ? access.lds_mask : 0;
  // Lanes in LDS end on their own.
  if (op->flat && op->lds_lanes) op->vm_order = Order::None;
  if (op->mask) std::memcpy(op->address, access.address, op->mask == 1 ? sizeof access.address[0] : sizeof op->address);
  op->to_lds = inst.lds || op_table[inst.op].flags & kOpToLds;
  if (op->to_lds) {
    op->writes.begin(op->mask, 4, false);
    const uint32_t base = uint32_t((step.wave.m0 & 0xffff) + inst.imm);
    for (uint64_t left = op->mask; left; left &= left - 1) {
      const int l = std::countr_zero(left);
      op->writes.place(l, base + 4 * uint32_t(l));
    }
  } else if (access.write && (access.space == Space::Lds || op->lds_lanes)) {
    lds_bytes(step, op->writes);
  }
  for (const Registers& write : step.known.registers.writes) {
    op->result = write;
    const RoleOf& role = role_of(inst.op);
    if (write.vector && role.given != 4) op->result.bytes = uint8_t(role.first ? 12 : 3);
    if (!write.vector || op->lanes) count(*op, 1);
    else op->result.count = 0;
  }
  ops_.push_back(std::move(op));
}

void OutstandingOps::account(const Step& step) {
  const OpInfo& info = op_table[step.inst.op];
  if (info.flags & kOpWaitCounts) {
    const WaitCounts most = wait_counts(uint32_t(step.inst.imm));
    // The largest value waits for nothing, and as many there cannot be.
    wait(most.vm, most.lgkm);
    return;
  }
  issue(step);
  // A counter that is full lets nothing be issued.
  if (ops_.size() > kMostCounts.lgkm) wait(kMostCounts.vm, kMostCounts.lgkm);
  // What is in no order and is never waited for; by the counters there are no more than this.
  if (ops_.size() > kMostCounts.vm + kMostCounts.lgkm) {
    release(*ops_.front());
    spare_.push_back(std::move(ops_.front()));
    ops_.erase(ops_.begin());
  }
}

}  // namespace gpu::check
