// Wait states between the instructions of a wave: where fewer lie between two of them than the hardware needs,
// by the table of virtual/isa/hazards.py.
#pragma once

#include <vector>

#include "hazards.h"

namespace gpu::check {

class WaitStates {
 public:
  void begin();
  void look(const Step& step, Arch arch, std::vector<HazardFound>& found);

 private:
  // The last instructions, by number; the longest that anything waits for is less.
  static constexpr uint32_t kRemembered = 32;
  struct Event {
    uint32_t number = 0, time = 0;
    const Inst* inst = nullptr;
    uint64_t lanes = 0;
    hazard::Did did = hazard::Did::None;  // to its result
    uint8_t passes = 0;
    Registers result;
  };
  struct Use {
    hazard::Needs needs;
    const Registers* registers = nullptr;
    uint64_t lanes = ~uint64_t(0);
  };

  bool remembered(uint32_t number) const { return number && number_ - number < kRemembered; }
  void vector_read(const Step& step, const Registers& read);
  void scalar_read(const Step& step, const Registers& read);
  void specials(const Step& step);
  void remember(const Step& step, const Registers* result);

  // `number`: of the instruction that did it to the register.
  void check(uint32_t number, hazard::Did did, const Use& use, uint32_t at);
  void check_written(uint32_t row, const Use& use);
  void check_scalar(uint32_t code, hazard::Needs needs, const Registers* registers);

  Event events_[kRemembered];
  uint32_t number_ = kRemembered, time_ = 0, states_ = 1;
  uint32_t matrix_free_ = 0;  // when the matrix core can begin another
  hazard::Did matrix_ = hazard::Did::None;
  // By register, the number of the last instruction that did it.
  uint32_t written_[kMaxVgprs] = {}, read_as_c_[kMaxVgprs] = {}, stored_[kMaxVgprs] = {};
  uint32_t valu_scalar_[kMaxSgprs] = {}, salu_m0_ = 0, setreg_[64] = {}, dgemm_ = 0;

  // Of the instruction at hand.
  const Step* step_ = nullptr;
  Arch arch_ = Arch::Gfx942;
  std::vector<HazardFound>* found_ = nullptr;
};

}  // namespace gpu::check
