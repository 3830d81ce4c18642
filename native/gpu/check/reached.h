// Which instructions of a kernel ran in this process, and which way its conditions went: what `optimize`'s
// result check asks of its inputs. No finding; each thing is written down when it is first seen.
#pragma once

#include <memory>

#include "workgroup.h"

namespace gpu::check {

// The code of one program: a byte for each of its words.
class ReachedCode;

class LaunchReached final : public GroupWatcher, public Observer {
 public:
  explicit LaunchReached(const Launch& launch);
  Observer* begin(WorkgroupContext&) override { return this; }
  void finished(const WorkgroupContext&) override {}
  void executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) override;

 private:
  const Launch& launch_;
  ReachedCode& code_;
};

}  // namespace gpu::check
