// The memory side of one XCD: its L2 with channels, the way out to the Infinity Cache and HBM, and
// the scalar and instruction caches that pairs of compute units share.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>

#include "gpu.h"
#include "sampled_cache.h"
#include "model_parameters.h"
#include "trace.h"

namespace gpu {

// Per L2 channel.
struct TccCounts {
  uint64_t hit = 0, miss = 0, read = 0, write = 0, atomic = 0, uncached = 0, ea_read = 0, ea_read_32 = 0,
           ea_read_128 = 0, ea_write = 0, ea_write_64 = 0, ea_atomic = 0, writeback = 0, end_writeback = 0, evict = 0,
           ea_read_level = 0;
};
struct SqcCounts {
  uint64_t inst_requests = 0, inst_hits = 0, inst_misses = 0, inst_duplicates = 0;
  uint64_t data_requests = 0, data_hits = 0, data_misses = 0, data_duplicates = 0,
           data_reads[5] = {};  // by dwords: 1 2 4 8 16
  uint64_t tc_data_reads = 0, tc_data_writes = 0, tc_inst_requests = 0;
};

// A pipe of fixed throughput shared by requests whose order within a turn of the compute units is not their
// order in time: work adds up from the start of the turn, and a request is late by what is ahead of it.
class FluidPipe {
 public:
  static constexpr int kShift = 8;  // time in 1/256 cycles
  void advance(uint64_t start) { free_ = std::max(free_, start << kShift); }
  // Cycles a request of `service` (1/256 cycles) arriving at `time` waits.
  uint64_t delay(uint64_t time, uint64_t service) {
    free_ += service;
    const uint64_t at = time << kShift;
    return free_ > at + service ? (free_ - at - service) >> kShift : 0;
  }
  uint64_t free() const { return free_ >> kShift; }

 private:
  uint64_t free_ = 0;
};

// So many requests wait for data at a time: when the oldest has it another may begin.
class Places {
 public:
  explicit Places(uint32_t count) : count_(count) {
    if (count == 0 || count > done_.size()) throw std::logic_error("a model parameter asks for too many places");
  }
  uint64_t free() const { return done_[next_]; }  // when there is one
  uint64_t take(uint64_t until) {
    done_[next_] = until;
    next_ = (next_ + 1) % count_;
    return until;
  }

 private:
  std::array<uint64_t, 32> done_{};
  uint32_t count_, next_ = 0;
};

// Lines on their way out of an XCD in one quantum, to be entered into the Infinity Cache.
struct FabricRequest {
  uint32_t line;
  uint32_t halves;
  bool written = false;
};

class XccMemory {
 public:
  XccMemory(const DeviceSpec& device, const Parameters& parameters, const SampledCache* mall);

  // `share`: the part of the XCD's compute units that is simulated.
  // `from_others`: of lines it asks for first, those that XCDs not simulated have brought to the Infinity Cache.
  void quantum(uint32_t active_xccs, double share, double from_others);
  void advance(uint64_t time);  // nothing earlier is asked any more
  // A request of the L1 (128 or 64 bytes) or of an SQC (64 bytes); the cycle its data is back,
  // less the latency of a hit in the L1.
  uint64_t read(uint64_t line_and_flags, uint64_t time, uint32_t halves, bool scalar);
  // The host's caches warmed for a line about to be asked for.
  void prefetch(uint64_t line) const {
    l2_.prefetch(set_of(line, channel_of(line)));
    if (mall_) mall_->prefetch(uint32_t(line / kLineBytes));
  }
  uint64_t write(uint64_t line_and_flags, uint64_t time);  // the cycle of the acknowledgement
  // A workgroup that is not simulated touched the line: neither counted nor timed.
  void warm(uint64_t line_and_flags);
  // Another XCD wrote the line to memory: a clean copy of it is stale.
  void invalidate(uint32_t line);
  void empty_l2();
  uint64_t atomic(uint64_t line_and_flags, uint64_t time, uint32_t lanes);
  // `queue`: requests of a compute unit that have not entered the cache yet.
  uint64_t scalar_read(uint32_t sqc, uint64_t line_and_flags, uint64_t time, uint32_t dwords, Places& queue);
  void scalar_write(uint32_t sqc, uint64_t line_and_flags, uint64_t time);
  uint64_t fetch(uint32_t sqc, uint64_t pc, uint64_t time);  // when the instructions are there
  // End of the dispatch: dirty lines go to memory; the cycles that takes.
  uint64_t write_back();
  // Before a dispatch: counters and pipes at zero, caches as they are between dispatches.
  // `data_since`: a mark of the Infinity Cache, data of before which it is not to have.
  void begin(bool keep_l2, bool keep_instructions, double page_weight, uint32_t data_since);

  std::vector<TccCounts> channels;
  std::vector<SqcCounts> sqcs;
  std::vector<FabricRequest> fabric;  // of this quantum
  uint64_t hbm_reads = 0, mall_hits = 0;

 private:
  enum State : uint8_t { kValidLow = 1, kValidHigh = 2, kDirtyLow = 4, kDirtyHigh = 8, kFullLow = 16, kFullHigh = 32 };
  uint32_t channel_of(uint64_t line) const {
    return uint32_t(line >> 8 ^ line >> 12 ^ line >> 16 ^ line >> 20 ^ line >> 24) & (parameters_.l2_channels - 1);
  }
  uint32_t set_of(uint64_t line, uint32_t channel) const {
    // Higher bits fold in, or the pages of one XCD's workgroups would share few sets.
    const uint64_t page = line >> 12, folded = page ^ page >> 6 ^ page >> 12 ^ page >> 18;
    return channel * sets_per_channel_ + (uint32_t((line >> 7 & 1) | folded << 1) & (sets_per_channel_ - 1));
  }
  struct Entry {
    uint32_t at = 0;
    bool hit = false;
    uint64_t wait = 0;  // until the dirty line that was there is on its way out
  };
  Entry entry_for(uint64_t line, uint32_t channel, uint64_t time);
  uint64_t out(uint64_t line, uint64_t time, uint32_t halves, uint32_t channel);  // extra latency of a read
  bool in_mall(uint32_t tag) const { return mall_ && mall_->holds(tag, data_since_); }
  // When the page's address is known, of a request at `time`.
  uint64_t translated(uint64_t line, uint64_t time);
  // The same lines in every run.
  bool brought_by_another(uint32_t tag) const { return mall_ && (tag * 2654435761u) >> 16 < from_others_; }
  // What a request adds that goes to the host's memory, over a link with two lanes.
  uint64_t to_host(FluidPipe& lane, uint64_t time, uint32_t halves);
  uint32_t write_out(uint32_t at, TccCounts& count);  // a dirty line; its bytes
  uint64_t evict(uint32_t at, uint32_t channel, uint64_t time);  // the cycles it waits to leave

  const DeviceSpec& device_;
  const Parameters& parameters_;
  const SampledCache* mall_;
  const uint32_t sets_per_channel_;
  TagCache l2_;
  std::vector<uint8_t> state_;
  std::vector<uint64_t> ready_;  // when a line being fetched is there
  std::vector<FluidPipe> channel_pipes_;
  std::vector<FluidPipe> scalar_pipes_;
  std::vector<Places> scalar_waiting_;  // requests a scalar cache holds while their line is on its way
  uint32_t from_others_ = 0;  // of 65536 lines
  FluidPipe mall_pipe_, hbm_pipe_, host_in_, host_out_;
  uint64_t read_service_ = 0, write_service_ = 0, mall_service_ = 0, mall_write_service_ = 0, hbm_service_ = 0,
           hbm_write_service_ = 0, hbm_mixed_service_ = 0, host_service_ = 0;  // of 128 bytes
  uint64_t hbm_reads_before_ = 0;  // this quantum
  SampledCache pages_;
  struct Page {
    uint64_t page = ~uint64_t(0), ready = 0;
  };
  std::array<Page, 64> recent_pages_;  // of those looked up last
  double page_weight_ = 1;
  uint32_t data_since_ = 0;
  struct SmallCache {
    TagCache tags;
    std::vector<uint64_t> ready;
  };
  std::vector<SmallCache> scalar_, instruction_;
};

}  // namespace gpu
