// What a wave's memory instructions have not done yet, as far as its s_waitcnts tell: registers whose values
// are still to come, and LDS that is still to be written.
#pragma once

#include <memory>
#include <vector>

#include "hazards.h"
#include "wait_counts.h"

namespace gpu::check {

// Bytes of LDS by lane, of one access or of a load to LDS.
struct LdsBytes {
  uint64_t mask = 0;
  uint32_t size = 0;
  bool two = false;
  uint32_t low = UINT32_MAX, high = 0;  // all of them are in [low, high)
  uint32_t at[2][kLanes];  // of each lane, and the second of each where there are two

  void begin(uint64_t lanes, uint32_t bytes, bool pairs);
  void place(int lane, uint32_t first, uint32_t second = 0);
  // The first lane of this and of the other that meet, and the byte at which; false where none does.
  bool meets(const LdsBytes& other, int& lane, int& others, uint32_t& byte) const;
};
// What an instruction touched of LDS; false where it touched none.
bool lds_bytes(const Step& step, LdsBytes& bytes);

// Where a memory instruction is counted. Those of one order end as they were issued; what is in none may end at
// any time.
struct Counted {
  enum class Order : uint8_t { None, Vector, Lds, Gds };
  bool vm = false, lgkm = false;  // it is counted there and has not ended
  Order vm_order = Order::None, lgkm_order = Order::None;
  bool flat = false;  // lanes in LDS come with lgkmcnt, others with vmcnt

  bool any() const { return vm || lgkm; }
  bool in_order_with(const Counted& other) const;
};
Counted counted(const Inst& inst);

// One memory instruction. It has ended for a counter when an s_waitcnt has waited for it.
struct Outstanding : Counted {
  const Inst* inst = nullptr;
  bool to_lds = false;  // a load that writes LDS
  Registers result;   // count 0: none
  uint64_t lanes = 0, lds_lanes = 0;
  bool told = false;
  LdsBytes writes;    // of LDS
  Space space = Space::None;
  uint32_t size = 0;
  uint64_t mask = 0, address[kLanes];

  uint64_t pending() const;
};

class OutstandingOps {
 public:
  void begin();

  // Registers that are read or written before their values have come.
  void look(const Step& step, std::vector<HazardFound>& found);
  // LDS that a load of the same wave is still to write.
  void look_at_lds(const Step& step, const LdsBytes& bytes, std::vector<HazardFound>& found);
  // What the instruction waits for, and what it leaves outstanding.
  void account(const Step& step);

  // Whether any is still to write LDS that was not told of.
  bool loads_to_lds() const {
    for (const auto& op : ops_)
      if (op->to_lds && op->vm && !op->told) return true;
    return false;
  }
  // f(const Outstanding&) for each that is still to write LDS.
  template <class F>
  void each_write_of_lds(F f) const {
    for (const auto& op : ops_)
      if (op->writes.mask && (op->to_lds ? op->vm : op->lgkm)) f(*op);
  }

 private:
  void wait(uint32_t vm, uint32_t lgkm);
  void issue(const Step& step);
  void release(Outstanding& op);
  void count(const Outstanding& op, int by);
  // The last that is to write registers; not such as the instruction's own result comes after.
  Outstanding* newest(const Registers& used, uint64_t lanes, const Counted* own);
  HazardFound describe(const Step& step, Outstanding& op, const Registers& used, uint64_t lanes, bool write) const;
  std::string wait_for(const Outstanding& op) const;

  std::vector<std::unique_ptr<Outstanding>> ops_, spare_;  // as issued
  // How many of them are to write a register.
  uint8_t rows_[kMaxVgprs] = {}, codes_[kMaxSgprs] = {};
};

}  // namespace gpu::check
