// One workgroup as the check of initialisation sees it: its waves' twins, and what is written of its LDS and
// private memory.
#pragma once

#include "byte_bits.h"
#include "exec.h"
#include "init.h"
#include "init_roles.h"
#include "written.h"

namespace gpu::check {

class GroupInit final : public Observer, public AccessWatcher {
 public:
  explicit GroupInit(LaunchInit& launch) : launch_(launch) {}
  void begin(const WorkgroupContext& group);

  void executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) override;
  AccessWatcher* watcher() override { return this; }
  void touching(const Wave& wave, const Inst& inst, const MemAccess& access) override;

 private:
  using Lanes = uint64_t;
  struct Free {
    void operator()(Wave* wave) const;
  };
  struct Twin {
    std::unique_ptr<Wave, Free> wave;
    // By register: where it differs from the real wave's, and why.
    Lanes unknown[kMaxVgprs];
    uint32_t unknown_bits[kMaxSgprs];
    bool scalar_computed[kMaxSgprs];
    Origin vector[kMaxVgprs], scalar[kMaxSgprs], scc;
    // What is unknown is the result of something, not bytes that were only moved.
    Lanes computed[kMaxVgprs];
    std::vector<Lanes> written;  // by byte of private memory
  };

  Twin& twin_of(const Wave& wave);
  void begin(Twin& twin, const Wave& wave, uint32_t number);

  void compute(const Wave& wave, Twin& twin, const Inst& inst, uint64_t exec);
  void see_row(const Wave& wave, Twin& twin, uint32_t row);
  void see_scalar(const Wave& wave, Twin& twin, uint32_t code);
  // What the operands are known to be, before the twin runs the instruction.
  struct Operands {
    Lanes unknown = 0, computed = 0;
    Origin origin;
    bool any = false;
  };
  Operands operands_of(const Twin& twin, const Inst& inst) const;
  void agree(const Wave& wave, Twin& twin, const Origin& origin);
  void given(const Wave& wave, Twin& twin, const Inst& inst, uint64_t exec);
  void loaded(const Wave& wave, Twin& twin, const Inst& inst, uint64_t exec, const MemAccess& access);
  void scalars_loaded(const Wave& wave, Twin& twin, const Inst& inst, const MemAccess& access);
  void branch(const Wave& wave, Twin& twin, const Inst& inst);
  void jump(const Wave& wave, Twin& twin, const Inst& inst);

  void check_addresses(const Wave& wave, const Twin& twin, const Inst& inst, Lanes lanes);
  void check_scalar(const Wave& wave, const Twin& twin, const Inst& inst, uint32_t code, uint32_t words);
  void store(const Wave& wave, Twin& twin, const Inst& inst, const MemAccess& access);
  void store_part(const Wave& wave, Twin& twin, const Inst& inst, const MemAccess& access, uint16_t row,
                  const uint64_t* addresses);
  void update(const Wave& wave, Twin& twin, const Inst& inst, const MemAccess& access);
  void store_scalars(const Wave& wave, Twin& twin, const Inst& inst, const MemAccess& access);
  void to_lds(const Wave& wave, const Inst& inst, const MemAccess& access);

  // Of one lane's bytes, those that somebody wrote; at most 16.
  uint32_t written(Twin& twin, Space space, int lane, uint64_t address, uint32_t bytes);
  void write(Twin& twin, Space space, int lane, uint64_t address, uint32_t bytes, uint32_t set);
  bool all_written(const MemAccess& access, const uint64_t* addresses);
  const WrittenPiece* piece(uint64_t address);
  static Space space_of(const MemAccess& access, int lane);

  void tell(Sink sink, const Wave& wave, const Inst& inst, const Origin& origin, int lane, uint32_t bytes,
            std::string registers = {});

  LaunchInit& launch_;
  const WorkgroupContext* group_ = nullptr;
  std::vector<std::unique_ptr<Twin>> twins_;
  std::vector<uint64_t> lds_words_;
  ByteBits lds_;
  std::shared_ptr<WrittenPiece> piece_;  // found last
  uint64_t generation_ = 0;
  uint32_t last_ = 0;
};

}  // namespace gpu::check
