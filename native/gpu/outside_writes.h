// Writes into device memory by others than a kernel: copy engines, the host.
#pragma once

#include <atomic>
#include <cstdint>
#include <shared_mutex>

namespace gpu {

struct OutsideWrites {
  std::shared_mutex mutex;  // shared by those who write; alone who needs memory to stand still
  std::atomic<uint64_t> count{0};
};

inline OutsideWrites& outside_writes() {
  static OutsideWrites& all = *new OutsideWrites;  // copies may outlive static objects
  return all;
}

// Held while writing.
class OutsideWrite {
 public:
  OutsideWrite() : lock_(outside_writes().mutex) { ++outside_writes().count; }

 private:
  std::shared_lock<std::shared_mutex> lock_;
};

}  // namespace gpu
