#include "xcc_memory.h"

#include <algorithm>

namespace gpu {
namespace {

uint32_t short_line(uint64_t line) { return uint32_t(line / kLineBytes); }
double bytes_per_clock(double gbps, const DeviceSpec& device) { return gbps * 1000.0 / device.clock_mhz; }
constexpr uint32_t kPageBytes = 2u << 20, kPageSets = 256, kPageWays = 16;
uint64_t service_of(double bytes, double per_clock) { return uint64_t(bytes * (1 << FluidPipe::kShift) / per_clock); }

}  // namespace

XccMemory::XccMemory(const DeviceSpec& device, const Parameters& p, const SampledCache* mall)
    : channels(p.l2_channels),
      sqcs(p.sqcs_per_xcc),
      device_(device),
      parameters_(p),
      mall_(mall),
      sets_per_channel_(std::max<uint32_t>(1, uint32_t(device.l2_bytes / kLineBytes / p.l2_ways / p.l2_channels))),
      l2_(sets_per_channel_ * p.l2_channels, p.l2_ways),
      state_(l2_.size()),
      ready_(l2_.size()),
      channel_pipes_(p.l2_channels),
      scalar_pipes_(p.sqcs_per_xcc),
      scalar_waiting_(p.sqcs_per_xcc, Places(p.scalar_pending)),
      pages_(uint64_t{p.translation_reach_mb} << 20, kPageBytes, kPageSets, kPageWays) {
  for (uint32_t i = 0; i < p.sqcs_per_xcc; ++i) {
    scalar_.push_back(
        {TagCache(p.scalar_bytes / 64 / p.scalar_ways, p.scalar_ways), std::vector<uint64_t>(p.scalar_bytes / 64)});
    instruction_.push_back({TagCache(p.icache_bytes / p.icache_line_bytes / p.icache_ways, p.icache_ways),
                            std::vector<uint64_t>(p.icache_bytes / p.icache_line_bytes)});
  }
}

void XccMemory::quantum(uint32_t active_xccs, double share, double from_others) {
  from_others_ = uint32_t(65536 * from_others);
  read_service_ = service_of(kLineBytes, parameters_.l2_channel_bytes_per_clock * share);
  write_service_ = service_of(kLineBytes, parameters_.l2_channel_write_bytes_per_clock * share);
  const double link = bytes_per_clock(parameters_.xcc_fabric_gbps, device_);
  mall_service_ =
      service_of(kLineBytes, std::min(link, bytes_per_clock(parameters_.mall_gbps, device_) / active_xccs) * share);
  const double write_link = bytes_per_clock(parameters_.xcc_fabric_write_gbps, device_);
  mall_write_service_ = service_of(
      kLineBytes, std::min(write_link, bytes_per_clock(parameters_.mall_gbps, device_) / active_xccs) * share);
  hbm_service_ =
      service_of(kLineBytes, std::min(link, bytes_per_clock(parameters_.hbm_gbps, device_) / active_xccs) * share);
  hbm_write_service_ = service_of(
      kLineBytes, std::min(write_link, bytes_per_clock(parameters_.hbm_write_gbps, device_) / active_xccs) * share);
  // Among reads a write costs what the slower of the two does: the bus has to turn round.
  hbm_mixed_service_ = hbm_reads == hbm_reads_before_ ? hbm_write_service_ : std::max(hbm_service_, hbm_write_service_);
  hbm_reads_before_ = hbm_reads;
  host_service_ = service_of(kLineBytes, bytes_per_clock(parameters_.host_gbps, device_) / active_xccs * share);
  fabric.clear();
}

void XccMemory::advance(uint64_t time) {
  for (FluidPipe& pipe : channel_pipes_) pipe.advance(time);
  for (FluidPipe& pipe : scalar_pipes_) pipe.advance(time);
  for (FluidPipe* pipe : {&mall_pipe_, &hbm_pipe_, &host_in_, &host_out_}) pipe->advance(time);
}

XccMemory::Entry XccMemory::entry_for(uint64_t line, uint32_t channel, uint64_t time) {
  const TagCache::Found found = l2_.find(set_of(line, channel), short_line(line));
  if (found.hit) return {found.at, true, 0};
  const uint64_t wait = evict(found.at, channel, time);
  l2_.place(found.at, short_line(line));
  state_[found.at] = 0;
  ready_[found.at] = 0;
  return {found.at, false, wait};
}

void XccMemory::warm(uint64_t line_and_flags) {
  if (line_and_flags & kUncached) return;
  const uint64_t line = line_and_flags & ~uint64_t(kLineFlags);
  const TagCache::Found found = l2_.find(set_of(line, channel_of(line)), short_line(line));
  if (!found.hit) {
    l2_.place(found.at, short_line(line));
    state_[found.at] = 0;
    ready_[found.at] = 0;
  }
  const uint8_t halves = uint8_t(line_and_flags & 3);
  if (!(line_and_flags & kWritten)) state_[found.at] |= parameters_.l1_request_bytes == kLineBytes ? 3 : halves;
  else state_[found.at] |= uint8_t(halves * (kValidLow | kDirtyLow | kFullLow));
}

void XccMemory::invalidate(uint32_t line) {
  const uint64_t address = uint64_t{line} * kLineBytes;
  const uint32_t at = l2_.place_of(set_of(address, channel_of(address)), line);
  if (at != TagCache::kNone && !(state_[at] & (kDirtyLow | kDirtyHigh))) state_[at] = 0;
}

void XccMemory::empty_l2() {
  clear_touched(state_, l2_);
  clear_touched(ready_, l2_);
  l2_.clear();
}

uint32_t XccMemory::write_out(uint32_t at, TccCounts& count) {
  const uint8_t state = state_[at];
  for (int half = 0; half < 2; ++half) {
    if (!(state & (kDirtyLow << half))) continue;
    ++count.ea_write;
    if (state & (kFullLow << half)) ++count.ea_write_64;
  }
  const uint32_t halves = uint32_t(state & (kDirtyLow | kDirtyHigh)) / kDirtyLow;
  fabric.push_back({l2_.tag(at), halves, true});
  return 64u * uint32_t(__builtin_popcount(halves));
}

// A write that the Infinity Cache does not hold yet makes room there, in the end in HBM.
uint64_t XccMemory::evict(uint32_t at, uint32_t channel, uint64_t time) {
  if (l2_.tag(at) == TagCache::kNone) return 0;
  TccCounts& count = channels[channel];
  ++count.evict;
  if (!(state_[at] & (kDirtyLow | kDirtyHigh))) return 0;
  ++count.writeback;
  const uint32_t bytes = write_out(at, count);
  const uint64_t wait = mall_pipe_.delay(time, mall_write_service_ * bytes / kLineBytes);
  if (in_mall(l2_.tag(at))) return wait;
  return std::max(wait, hbm_pipe_.delay(time, hbm_mixed_service_ * bytes / kLineBytes));
}

uint64_t XccMemory::out(uint64_t line, uint64_t time, uint32_t halves, uint32_t channel) {
  const uint32_t tag = short_line(line), bytes = 64u * uint32_t(__builtin_popcount(halves));
  fabric.push_back({tag, halves, false});
  uint64_t extra = mall_pipe_.delay(time, mall_service_ * bytes / kLineBytes);
  if (in_mall(tag) || brought_by_another(tag)) {
    ++mall_hits;
    extra += parameters_.mall_latency - parameters_.l2_latency;
  } else {
    ++hbm_reads;
    extra = std::max(extra, hbm_pipe_.delay(time, hbm_service_ * bytes / kLineBytes));
    extra += parameters_.hbm_latency - parameters_.l2_latency;
  }
  channels[channel].ea_read_level += extra;
  return extra;
}

// The first to ask for a page that the XCD's translations do not hold waits for its entry of the page
// table, one read of memory, and so do those that come before it is there.
uint64_t XccMemory::translated(uint64_t line, uint64_t time) {
  const uint64_t page = line / kPageBytes;
  // Arrays lie powers of two apart.
  const uint32_t spread = uint32_t(page) * 0x9e3779b1u;
  Page& recent = recent_pages_[spread / (~0u / recent_pages_.size() + 1)];
  if (recent.page != page) {
    const bool held = pages_.holds(uint32_t(page));
    pages_.enter(uint32_t(page), 3, page_weight_);
    recent = {page, held ? 0 : time + parameters_.translation_latency};
  }
  return std::max(time, recent.ready);
}

uint64_t XccMemory::to_host(FluidPipe& lane, uint64_t time, uint32_t halves) {
  const uint64_t service = host_service_ * uint32_t(__builtin_popcount(halves)) / 2;
  return lane.delay(time, service) + parameters_.host_latency - parameters_.l2_latency;
}

uint64_t XccMemory::read(uint64_t line_and_flags, uint64_t time, uint32_t halves, bool scalar) {
  const uint64_t line = line_and_flags & ~uint64_t(kLineFlags);
  // That of code is known: the packet processor has read the kernel's descriptor, which lies beside it.
  if (line < kCodeBase) time = translated(line, time);
  const uint32_t channel = channel_of(line);
  TccCounts& count = channels[channel];
  ++count.read;
  uint64_t latency = scalar ? parameters_.scalar_miss_latency : parameters_.l2_latency - parameters_.l1_latency;
  latency += channel_pipes_[channel].delay(time, halves == 3 ? read_service_ : read_service_ / 2);
  if (line_and_flags & kUncached) {
    ++count.uncached;
    ++count.miss;
    ++count.ea_read;
    if (line_and_flags & kHost) return time + latency + to_host(host_in_, time + latency, halves);
    // A kernel's arguments, which the host has just written.
    return time + latency + (mall_ && !data_since_ ? parameters_.mall_latency : parameters_.hbm_latency) -
           parameters_.l2_latency;
  }
  const auto [at, hit, wait] = entry_for(line, channel, time);
  // The line is asked for whole where the L1 asks for whole lines.
  const uint8_t want = uint8_t(parameters_.l1_request_bytes == kLineBytes && !scalar ? 3 : halves);
  if (hit && (state_[at] & want) == want) {
    ++count.hit;
    const uint64_t back = time + latency;
    return std::max(back, ready_[at]);
  }
  ++count.miss;
  const uint8_t missing = uint8_t(want & ~(state_[at] & 3));
  // What leaves the XCD is the halves asked for, though the line counts as whole afterwards: a
  // chase sees lines of 128 bytes, while kernels of 64-byte rows pay for 64.
  const uint32_t halves_out = missing & halves ? missing & halves : missing;
  if (parameters_.l1_request_bytes == kLineBytes) {
    ++count.ea_read;
    if (halves_out == 3) ++count.ea_read_128;
  } else {
    count.ea_read += uint32_t(__builtin_popcount(halves_out));
  }
  state_[at] |= want;
  const uint64_t back = time + latency + out(line, time + latency, halves_out, channel);
  ready_[at] = back;
  return back;
}

uint64_t XccMemory::write(uint64_t line_and_flags, uint64_t time) {
  const uint64_t line = line_and_flags & ~uint64_t(kLineFlags);
  time = translated(line, time);
  const uint32_t channel = channel_of(line);
  TccCounts& count = channels[channel];
  const bool cached = !(line_and_flags & kUncached);
  const Entry entry = cached ? entry_for(line, channel, time) : Entry{};
  const uint32_t at = entry.at;
  bool hit = entry.hit;
  // What it takes the place of has to be on its way out first.
  uint64_t latency = parameters_.l2_write_latency + entry.wait;
  for (int half = 0; half < 2; ++half) {
    if (!(line_and_flags & (kLow << half))) continue;
    const bool full = line_and_flags & (kLowFull << half);
    ++count.write;
    latency = std::max(latency, parameters_.l2_write_latency + channel_pipes_[channel].delay(time, write_service_ / 2));
    if (!cached) {
      ++count.uncached;
      ++count.miss;
      ++count.ea_write;
      if (full) ++count.ea_write_64;
      if (line_and_flags & kHost)
        latency = std::max(latency, parameters_.l2_latency + to_host(host_out_, time + parameters_.l2_latency, 1));
      continue;
    }
    ++(hit ? count.hit : count.miss);
    hit = true;  // the second half finds what the first brought
    state_[at] |= uint8_t(kDirtyLow << half);
    if (full) state_[at] |= uint8_t((kFullLow | kValidLow) << half);
  }
  return time + latency;
}

uint64_t XccMemory::atomic(uint64_t line_and_flags, uint64_t time, uint32_t lanes) {
  const uint64_t line = line_and_flags & ~uint64_t(kLineFlags);
  time = translated(line, time);
  const uint32_t channel = channel_of(line);
  TccCounts& count = channels[channel];
  ++count.atomic;
  const uint64_t work =
      std::max<uint64_t>(read_service_, (uint64_t(lanes) << FluidPipe::kShift) / parameters_.atomic_lanes_per_clock);
  uint64_t latency = parameters_.l2_latency + channel_pipes_[channel].delay(time, work);
  if (line_and_flags & kHost) {
    ++count.uncached;
    ++count.miss;
    ++count.ea_atomic;
    return time + latency + to_host(host_out_, time + latency, uint32_t(line_and_flags & 3));
  }
  const auto [at, hit, wait] = entry_for(line, channel, time);
  const uint8_t want = uint8_t(line_and_flags & 3);
  if (hit && (state_[at] & want) == want) {
    ++count.hit;
  } else {
    ++count.miss;
    ++count.ea_read;
    if (parameters_.l1_request_bytes == kLineBytes) ++count.ea_read_128;
    state_[at] |= 3;
    ready_[at] = time + latency + out(line, time + latency, 3, channel);
  }
  state_[at] |= uint8_t(want << 2 | want << 4);
  return std::max(time + latency, ready_[at]);
}

uint64_t XccMemory::scalar_read(uint32_t sqc, uint64_t line_and_flags, uint64_t time, uint32_t dwords, Places& queue) {
  SqcCounts& count = sqcs[sqc];
  ++count.data_requests;
  ++count.data_reads[dwords >= 16 ? 4 : dwords >= 8 ? 3 : dwords >= 4 ? 2 : dwords >= 2 ? 1 : 0];
  const uint64_t line = line_and_flags & ~uint64_t(63);
  const uint32_t tag = uint32_t(line / 64);
  time += scalar_pipes_[sqc].delay(time, uint64_t{parameters_.scalar_request_cycles} << FluidPipe::kShift);
  Places& waiting = scalar_waiting_[sqc];
  const bool held = waiting.free() > time;
  if (held) time = queue.take(waiting.free());
  SmallCache& cache = scalar_[sqc];
  const TagCache::Found found = cache.tags.find(tag % cache.tags.sets(), tag);
  if (found.hit) {
    const uint64_t hit = time + parameters_.scalar_latency, ready = cache.ready[found.at];
    ++(ready > hit ? count.data_duplicates : count.data_hits);
    return ready > hit || held ? waiting.take(std::max(hit, ready)) : hit;
  }
  ++count.data_misses;
  ++count.tc_data_reads;
  cache.tags.place(found.at, tag);
  const uint64_t half = line & 64 ? kHigh : kLow;
  const uint64_t back = read((line & ~uint64_t(127)) | half | (line_and_flags & (kUncached | kHost)),
                             time + parameters_.scalar_latency, uint32_t(half), true);
  return waiting.take(cache.ready[found.at] = back);
}

void XccMemory::scalar_write(uint32_t sqc, uint64_t line_and_flags, uint64_t time) {
  ++sqcs[sqc].data_requests;
  ++sqcs[sqc].tc_data_writes;
  const uint64_t line = line_and_flags & ~uint64_t(63);
  write((line & ~uint64_t(127)) | (line & 64 ? kHigh : kLow) | (line_and_flags & (kUncached | kHost)), time);
}

uint64_t XccMemory::fetch(uint32_t sqc, uint64_t pc, uint64_t time) {
  SqcCounts& count = sqcs[sqc];
  ++count.inst_requests;
  const uint64_t line = pc / parameters_.icache_line_bytes;
  SmallCache& cache = instruction_[sqc];
  const TagCache::Found found = cache.tags.find(uint32_t(line) % cache.tags.sets(), uint32_t(line));
  if (found.hit) {
    const bool pending = cache.ready[found.at] > time;
    ++(pending ? count.inst_duplicates : count.inst_hits);
    return std::max(time, cache.ready[found.at]);
  }
  ++count.inst_misses;
  count.tc_inst_requests += parameters_.icache_requests_per_miss;
  cache.tags.place(found.at, uint32_t(line));
  uint64_t back = time;
  for (uint32_t i = 0; i < parameters_.icache_requests_per_miss; ++i) {
    const uint64_t at = line * parameters_.icache_line_bytes + uint64_t{i} * 64, half = at & 64 ? kHigh : kLow;
    const uint64_t there = read((at & ~uint64_t(127)) | half, time, uint32_t(half), true);
    if (i * 64 < parameters_.icache_line_bytes) back = std::max(back, there);
  }
  return cache.ready[found.at] = back;
}

uint64_t XccMemory::write_back() {
  uint64_t work = 0;  // 1/256 cycles
  const uint32_t ways = parameters_.l2_ways;
  const std::vector<uint32_t>& sets = l2_.touched_in_order();
  for (size_t i = 0; i < sets.size(); ++i) {
    if (mall_ && i + 1 < sets.size())
      for (uint32_t at = sets[i + 1] * ways; at < (sets[i + 1] + 1) * ways; ++at)
        if (state_[at] & (kDirtyLow | kDirtyHigh)) mall_->prefetch(l2_.tag(at));
    for (uint32_t at = sets[i] * ways; at < (sets[i] + 1) * ways; ++at) {
      const uint8_t dirty = state_[at] & (kDirtyLow | kDirtyHigh);
      if (!dirty || l2_.tag(at) == TagCache::kNone) continue;
      TccCounts& count = channels[sets[i] / sets_per_channel_];
      ++count.end_writeback;
      work += (in_mall(l2_.tag(at)) ? mall_write_service_ : hbm_write_service_) * write_out(at, count) / kLineBytes;
      state_[at] &= uint8_t(~(kDirtyLow | kDirtyHigh | kFullLow | kFullHigh));
    }
  }
  return work >> FluidPipe::kShift;
}

void XccMemory::begin(bool keep_l2, bool keep_instructions, double page_weight, uint32_t data_since) {
  page_weight_ = page_weight;
  data_since_ = data_since;
  recent_pages_.fill({});
  std::fill(channels.begin(), channels.end(), TccCounts{});
  std::fill(sqcs.begin(), sqcs.end(), SqcCounts{});
  std::fill(channel_pipes_.begin(), channel_pipes_.end(), FluidPipe{});
  std::fill(scalar_pipes_.begin(), scalar_pipes_.end(), FluidPipe{});
  std::fill(scalar_waiting_.begin(), scalar_waiting_.end(), Places(parameters_.scalar_pending));
  mall_pipe_ = hbm_pipe_ = host_in_ = host_out_ = {};
  hbm_reads = hbm_reads_before_ = mall_hits = 0;
  fabric.clear();
  // A launch invalidates the scalar caches. Instructions stay: the runtime invalidates them itself
  // when it has loaded code, and lines of other code have other tags here.
  for (auto* caches : {&scalar_, &instruction_})
    for (SmallCache& cache : *caches) {
      clear_touched(cache.ready, cache.tags);
      if (caches == &scalar_ || !keep_instructions) cache.tags.clear();
    }
  if (keep_l2) clear_touched(ready_, l2_);
  else empty_l2();
}

}  // namespace gpu
