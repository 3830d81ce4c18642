// What the model says of launches that come again: how long they take, and their counters where those
// are wanted. Both depend on what the caches hold, hence on what ran before: in a loop that settles after
// a few rounds. When two simulations of a launch after the same predecessor agree, the state it leaves
// is the one it found, and neither need be simulated again while the launch repeats.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu.h"
#include "model/dispatch_profile.h"

namespace gpu {

class Durations {
 public:
  using Key = std::vector<uint8_t>;
  struct Known {
    DispatchResult result;
    DispatchProfile profile;
  };
  // Whether it is known what the model says of the launch after what ran last.
  bool settled(const Key& key, Known& known) const;
  void simulated(const Key& key, const Known& known);
  void ran(const Key& key);  // as known
  // What launches took is not what they will take.
  void forget();
  // Something else than a launch went through the caches.
  void other_traffic(uint64_t at, uint64_t bytes);

 private:
  struct Entry {
    Known last;
    bool settled = false;
  };
  static std::string pair_of(uint64_t before, const Key& key);
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;  // by what ran before and the launch
  uint64_t before_ = 0;
};

}  // namespace gpu
