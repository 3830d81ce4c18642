// Which workgroups of a large dispatch are simulated, what the others take by them, and how far off
// that may be. docs/virtual-model.md, "Sampling".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpu {

// Workgroups by their place among those of the first XCD. All are taken until the caller has too many;
// thin() then makes windows of what there is and drops every other one, and again whenever they have
// grown too many: what stays is spread evenly over the dispatch, whatever its length. The first half of
// what was there at first stays too, as one long window: what is used again much later shows there.
class Windows {
 public:
  bool takes(uint64_t place) const { return place < first_ || length_ == 0 || place / length_ % stride_ == 0; }
  // Not simulated, but what it touched is in the caches when the window after it begins.
  bool precedes(uint64_t place) const {
    if (takes(place)) return false;
    const uint64_t left = stride_ - place / length_ % stride_;
    return left <= 2;
  }
  // Workgroups were taken up to `place`. What takes() refuses from now on is to be dropped.
  void thin(uint64_t place);
  bool whole() const { return length_ == 0; }
  uint64_t window(uint64_t place) const { return place < first_ || !length_ ? 0 : place / (length_ * stride_) + 1; }

 private:
  uint64_t first_ = 0, length_ = 0, stride_ = 1;
};

// One simulated workgroup.
struct Sampled {
  uint64_t place = 0, begun = 0, ended = 0, steps = 0;  // place as of Windows
};

// What is known of all workgroups of an XCD, simulated or not, from running them: the instructions of
// each part of the dispatch, and where the longest waves are.
class Executed {
 public:
  // `accesses`: of its longest wave, to memory and LDS.
  void add(uint64_t place, uint64_t steps, uint64_t longest_wave, uint64_t accesses);
  uint64_t steps(uint64_t from, uint64_t to) const;  // of the places, as exactly as parts are kept
  uint64_t total() const { return total_; }
  uint64_t places() const { return places_; }
  uint64_t longest() const { return longest_; }  // wave, its instructions
  // The latest end of waves longer than `usual`, which may outlast all others. `span` is how long workgroups
  // are being started, `cycles` what an instruction of a wave takes, `wait` what it waits for an access.
  double longest_end(double span, double cycles, double wait, double usual) const;

 private:
  // Parts of equal length that double when there are too many; the last one has a place that was added.
  std::vector<uint64_t> parts_;
  uint64_t part_length_ = 1, total_ = 0, places_ = 0, longest_ = 0;
  struct Last {
    uint64_t place = 0, steps = 0, accesses = 0;
  };
  std::vector<Last> last_;  // by the length of the wave, in steps of a quarter of two
};

struct Estimate {
  double cycles = 0;  // from the first workgroup's start to the last one's end
  double error = 0;   // its standard error, cycles
  double started = 0; // until the last workgroup's start
};

struct SimulatedPart {
  double end = 0;             // the last wave's
  double exhausted = 0;       // when the last workgroup was started
  double share = 1;           // of the XCD's compute units, those simulated
  // Of all simulated waves together; waiting: for data, or for their turn to issue.
  double data_wait_cycles = 0, turn_wait_cycles = 0, wave_cycles = 0;
  uint64_t waves = 0, wave_steps = 0, accesses = 0;
  bool other_xccs = false;    // stands for XCDs that were not simulated
};
// `groups` in the order they were started.
Estimate estimate(const std::vector<Sampled>& groups, const Windows& windows, const Executed& executed,
                  const SimulatedPart& part);
// A wave so long that it outlasts the rest runs alone; for data it waits as long as the others did, which had
// the memory to share.
void outlast(Estimate& whole, const Executed& executed, const SimulatedPart& part);

}  // namespace gpu
