// A workgroup on the executor: its waves, LDS and scratch, run a slice at a time.
#pragma once

#include <atomic>
#include <vector>

#include "launch.h"
#include "out_of_bounds.h"

namespace gpu {

struct Limits {
  uint64_t instructions_per_wave;  // 0: none
  bool strict_barrier;
  Bounds bounds = Bounds::Strict;
  uint32_t wave_order = 0;  // 0: one after the other; else a seed of another interleaving
  uint8_t leftover = 0;     // what LDS, scratch and registers hold that no wave wrote
};
Limits limits_from_environment();

// Waves of a workgroup, and workgroups, in another order and in turns of other lengths: what neither
// barriers nor atomics order must not matter, and where it does a result changes with the seed.
struct Interleaving {
  uint64_t seed = 0;  // 0: as they come
  uint64_t drawn = 0;

  uint64_t draw();
  uint32_t wave(uint32_t place, uint32_t waves) const;
  uint64_t turn();          // instructions until the next wave has its turn
  bool stops_at_waits();    // or when it waits for memory: between a load and the store that rests on it
  // Which of `count` workgroups is begun as the `place`th.
  static uint64_t group(uint64_t seed, uint64_t place, uint64_t count);
};

// Memory for private segments: one listed range, so that buffer instructions reach it too.
class ScratchPool {
 public:
  explicit ScratchPool(AddressSpace& memory);
  ~ScratchPool();
  uint8_t* take(uint64_t bytes);  // nullptr when all of it is out
  void give(uint8_t* at, uint64_t bytes);

 private:
  AddressSpace& memory_;
  std::mutex mutex_;
  uint64_t base_ = 0, next_ = 0, end_ = 0;
  std::multimap<uint64_t, uint64_t> free_;  // bytes -> address
};

// Who watches the workgroups of a launch: it then runs on one thread, in order.
class GroupWatcher {
 public:
  virtual ~GroupWatcher() = default;
  // The observer for a workgroup about to run, or nullptr.
  virtual Observer* begin(WorkgroupContext& group) = 0;
  virtual void finished(const WorkgroupContext& group) = 0;
};

struct WorkgroupContext {
  enum class State : uint8_t { Ready, AtBarrier, Done };
  enum class Result : uint8_t { Finished, Yielded, Faulted, Cancelled };

  explicit WorkgroupContext(ScratchPool& scratch) : scratch_pool(scratch) {}
  ~WorkgroupContext();
  WorkgroupContext(const WorkgroupContext&) = delete;
  WorkgroupContext& operator=(const WorkgroupContext&) = delete;

  // False when there is no scratch memory left for it.
  bool start(const Launch& launch, const Limits& limits, const DeviceSpec& device, uint64_t index,
             OutOfBounds* outside);
  // Runs until the end, a fault, or the workgroup only waits or has had its share.
  Result run(const Launch& launch, const Limits& limits, const AddressSpace& memory,
             const std::atomic<bool>& cancelled);

  const Launch* launched = nullptr;
  uint64_t index = 0;
  GroupShape shape{};
  uint32_t faulted_wave = 0;
  std::vector<Wave*> waves;   // storage for the largest workgroup seen; shape.waves() are in use
  std::vector<State> states;
  std::vector<uint64_t> writes;  // stores done when the wave last passed a barrier
  std::vector<uint64_t> passed;  // the furthest barrier the wave has passed, as the pc after it
  uint64_t used = 0;  // wave-instructions of the last run()
  uint64_t naps = 0;             // slices in which every wave slept
  uint32_t live = 0;
  bool at_host = false;          // yielded because a wave waits for an answer of the host
  Observer* observer = nullptr;  // told of every instruction, where set

 private:
  bool over_limit(Wave& wave, const Limits& limits) const;
  bool release_barrier(const Launch& launch, const Limits& limits);
  void set_at_host(bool now);
  Stop ask_host(Wave& wave, const Launch& launch);
  bool retry(Wave& wave, const Launch& launch, const AddressSpace& memory);
  void see(const AddressSpace::Snapshot* view);

  ScratchPool& scratch_pool;
  Interleaving order;
  std::vector<uint8_t> lds;
  uint8_t* scratch = nullptr;
  uint64_t scratch_bytes = 0;
  std::shared_ptr<const AddressSpace::Snapshot> fresh;  // newer than the launch's, see retry
};

}  // namespace gpu
