// Memory and registers that nobody wrote, where they matter: in what is stored, in an address, in the course
// that a wave takes. Each wave has a twin that runs the same instructions on registers of its own, in which
// every bit that nobody wrote is the other way round: whatever comes out differently depends on one.
#pragma once

#include <memory>
#include <vector>

#include "findings.h"
#include "workgroup.h"

namespace gpu::check {

class GroupInit;

// Where a value comes from that nobody wrote.
struct Origin {
  uint64_t pc = 0;       // of the instruction that read it; 0: it is a register's own
  uint64_t address = 0;  // of the first such byte, an offset in LDS or private memory
  Space space = Space::None;
  uint8_t lane = 0, bytes = 0;
};

// What became of it.
enum class Sink : uint8_t { Store, Update, Address, Branch };

struct Reached {
  Sink sink = Sink::Store;
  Origin origin;
  const Inst* inst = nullptr;
  const WorkgroupContext* group = nullptr;
  uint32_t wave = 0, bytes = 0;
  int lane = -1;           // -1: the whole wave's
  std::string registers;  // those that hold it, where nothing was read
};

class LaunchInit final : public GroupWatcher {
 public:
  // Where it does not tell, it only keeps account of what is written.
  LaunchInit(const Launch& launch, const DeviceSpec& device, bool tells);
  ~LaunchInit() override;

  Observer* begin(WorkgroupContext& group) override;
  void finished(const WorkgroupContext& group) override;

  void reached(const Reached& reached);
  const Launch& launch() const { return launch_; }
  const DeviceSpec& device() const { return device_; }

 private:
  const Launch& launch_;
  const DeviceSpec& device_;
  const bool tells_;
  std::vector<std::unique_ptr<GroupInit>> spare_;
  std::vector<std::pair<const WorkgroupContext*, std::unique_ptr<GroupInit>>> open_;
};

}  // namespace gpu::check
