#include "launch.h"

#include <algorithm>
#include <cstring>

#include "residency/residency.h"

namespace gpu {
namespace {

// The kernel descriptor of code object v3 and later, by LLVM's AMDGPU usage guide.
struct Descriptor {
  uint32_t group_segment_bytes, private_segment_bytes, kernarg_bytes, reserved0;
  int64_t entry_offset;
  uint8_t reserved1[20];
  uint32_t rsrc3, rsrc1, rsrc2;
  uint16_t properties, preload;
  uint8_t reserved2[4];
};
static_assert(sizeof(Descriptor) == 64);

constexpr uint32_t bits(uint32_t value, unsigned low, unsigned count) { return value >> low & ((1u << count) - 1); }

enum Property : uint16_t {
  kPrivateSegmentBuffer = 1 << 0,
  kDispatchPtr = 1 << 1,
  kQueuePtr = 1 << 2,
  kKernargPtr = 1 << 3,
  kDispatchId = 1 << 4,
  kFlatScratchInit = 1 << 5,
  kPrivateSegmentSize = 1 << 6,
  kWave32 = 1 << 10,
  kDynamicStack = 1 << 11,
};

// Kernels built for argument preloading begin with 256 bytes that load the arguments for firmware
// that cannot; hardware that can starts after them.
constexpr uint64_t kPreloadPrologue = 256;
// A kernel that calls through pointers or recurses does not say how deep.
constexpr uint32_t kDynamicStackBytes = 16384;

bool has_architected_scratch(const DeviceSpec& device) { return device.architecture == "gfx942"; }

}  // namespace

std::string prepare(Launch& launch, const DeviceSpec& device) {
  const DispatchRequest& r = launch.request;
  const std::string name = demangle(launch.kernel->name);
  Descriptor d;
  std::memcpy(&d, reinterpret_cast<const void*>(launch.kernel->descriptor), sizeof d);
  if (d.properties & kWave32)
    return "kernel " + name + " is built for wave32, which " + device.architecture + " does not have";
  uint64_t items = 1;
  for (int i = 0; i < 3; ++i) {
    if (!r.workgroup[i] || !r.grid[i]) return "kernel " + name + ": a grid or workgroup dimension is 0";
    items *= r.workgroup[i];
    launch.groups[i] = (r.grid[i] + r.workgroup[i] - 1) / r.workgroup[i];
  }
  if (items > 1024)
    return "kernel " + name + ": a workgroup of " + std::to_string(items) + " work-items; the most is 1024";
  launch.group_count = uint64_t{launch.groups[0]} * launch.groups[1] * launch.groups[2];

  launch.group_bytes = std::max(r.group_bytes, d.group_segment_bytes);
  if (launch.group_bytes > device.lds_bytes_per_cu)
    return "kernel " + name + " asks for " + std::to_string(launch.group_bytes) + " bytes of LDS; a compute unit has " +
           std::to_string(device.lds_bytes_per_cu);
  launch.private_bytes = std::max(r.private_bytes, d.private_segment_bytes);
  if (launch.kernel->uses_dynamic_stack || (d.properties & kDynamicStack))
    launch.private_bytes = std::max(launch.private_bytes, kDynamicStackBytes);
  launch.private_bytes = (launch.private_bytes + 15) / 16 * 16;

  launch.vgpr_count = uint16_t((bits(d.rsrc1, 0, 6) + 1) * 8);
  launch.acc_offset = uint16_t(std::min<uint32_t>((bits(d.rsrc3, 0, 6) + 1) * 4, launch.vgpr_count));
  const residency::Limits& limits = *residency::find(device.architecture);
  launch.group_bytes_taken = residency::lds_taken(limits, launch.group_bytes);
  launch.waves_per_simd = residency::waves_per_simd(limits, launch.vgpr_count, launch.kernel->sgpr_count);
  launch.groups_per_cu =
      residency::workgroups(limits, uint32_t(items), launch.vgpr_count, launch.kernel->sgpr_count, launch.group_bytes);
  if (launch.groups_per_cu == 0)
    return "kernel " + name + " uses " + std::to_string(launch.vgpr_count) + " vector registers: a workgroup of " +
           std::to_string(items) + " work-items does not fit into a compute unit (add __launch_bounds__(" +
           std::to_string(items) + "))";
  launch.mode =
      bits(d.rsrc1, 12, 8) | bits(d.rsrc1, 21, 1) << 8 | bits(d.rsrc1, 23, 1) << 9 | bits(d.rsrc1, 26, 1) << 23;

  launch.private_segment = bits(d.rsrc2, 0, 1);
  launch.user_sgprs = bits(d.rsrc2, 1, 5);
  for (unsigned i = 0; i < 3; ++i) launch.group_id[i] = bits(d.rsrc2, 7 + i, 1);
  launch.group_info = bits(d.rsrc2, 10, 1);
  launch.work_item_ids = uint8_t(bits(d.rsrc2, 11, 2));
  launch.properties = d.properties;
  launch.entry = launch.kernel->entry;
  if (has_architected_scratch(device) || device.architecture == "gfx90a") {
    launch.preload_count = uint16_t(bits(d.preload, 0, 7));
    launch.preload_offset = uint16_t(bits(d.preload, 7, 9));
    if (launch.preload_count) launch.entry += kPreloadPrologue;
  }
  launch.program = launch.object->program(launch.entry);
  if (!launch.program || !launch.program->at(launch.entry)) return "kernel " + name + " starts outside its code";
  const uint32_t argument_bytes =
      std::max(d.kernarg_bytes, launch.preload_count ? (launch.preload_offset + launch.preload_count) * 4u : 0);
  if (argument_bytes) {
    const Range* range = launch.memory->find(r.kernarg);
    if (!range || !range->readable || range->end - r.kernarg < argument_bytes)
      return "kernel " + name + ": its " + std::to_string(argument_bytes) +
             " bytes of arguments are not in memory the device can read";
  }
  return {};
}

void ClockTimes::give(Wave& wave, uint64_t group, uint32_t number, uint64_t group_count) const {
  if (groups.empty()) return;
  auto found = std::lower_bound(groups.begin(), groups.end(), group,
                                [](const Group& g, uint64_t index) { return g.index < index; });
  if (found == groups.end() || found->index != group) {
    found = groups.begin() + std::ptrdiff_t(group % groups.size());
    wave.time_base +=
        uint64_t(int64_t((double(group) - double(found->index)) / double(group_count) * double(duration)));
  }
  if (found->waves.empty()) return;
  const WaveTimes& times = found->waves[number % found->waves.size()];
  const uint64_t* first = times.readings.data();
  wave.clock = {.next = first, .end = first + times.readings.size(), .whole_pace = times.pace};
}

GroupShape shape_of(const Launch& launch, uint64_t index) {
  GroupShape shape;
  shape.id[0] = uint32_t(index % launch.groups[0]);
  shape.id[1] = uint32_t(index / launch.groups[0] % launch.groups[1]);
  shape.id[2] = uint32_t(index / launch.groups[0] / launch.groups[1]);
  for (int i = 0; i < 3; ++i) {
    const uint64_t start = uint64_t{shape.id[i]} * launch.request.workgroup[i];
    shape.size[i] = uint32_t(std::min<uint64_t>(launch.request.workgroup[i], launch.request.grid[i] - start));
  }
  return shape;
}

void work_item(const GroupShape& shape, uint32_t flat, uint32_t out[3]) {
  out[0] = flat % shape.size[0];
  out[1] = flat / shape.size[0] % shape.size[1];
  out[2] = flat / shape.size[0] / shape.size[1];
}

namespace {

class SgprWriter {
 public:
  explicit SgprWriter(Wave& wave) : wave_(wave) {}
  void word(uint32_t value) {
    if (at_ < 102) wave_.sgpr[at_++] = value;
  }
  void pair(uint64_t value) {
    word(uint32_t(value));
    word(uint32_t(value >> 32));
  }
  void move_to(uint32_t index) { at_ = std::max(at_, index); }

 private:
  Wave& wave_;
  uint32_t at_ = 0;
};

// A buffer resource over this wave's scratch: swizzled, the lane added, four bytes an element.
void scratch_resource(SgprWriter& sgpr, const Wave& wave) {
  const uint64_t base = reinterpret_cast<uint64_t>(wave.scratch);
  constexpr uint32_t kSwizzle = 1u << 31;
  constexpr uint32_t kWord3 = 7u << 0 | 7u << 12 /* num_format, data_format: 32 bits */ |
                              1u << 19 /* element size 4 */ | 3u << 21 /* index stride 64 */ |
                              1u << 23 /* add thread id */;
  sgpr.word(uint32_t(base));
  sgpr.word((uint32_t(base >> 32) & 0xffff) | kSwizzle);
  sgpr.word(uint32_t(std::min<uint64_t>(uint64_t{wave.scratch_bytes_per_lane} * kLanes, 0xffffffff)));
  sgpr.word(kWord3);
}

}  // namespace

void start_wave(Wave& wave, const Launch& launch, const GroupShape& shape, uint32_t number, uint64_t group_index,
                const DeviceSpec& device) {
  const DispatchRequest& r = launch.request;
  SgprWriter sgpr(wave);
  if (launch.properties & kPrivateSegmentBuffer) scratch_resource(sgpr, wave);
  if (launch.properties & kDispatchPtr) sgpr.pair(r.packet_address);
  if (launch.properties & kQueuePtr) sgpr.pair(r.queue_address);
  if (launch.properties & kKernargPtr) sgpr.pair(r.kernarg);
  if (launch.properties & kDispatchId) sgpr.pair(r.dispatch_id);
  if (launch.properties & kFlatScratchInit) sgpr.pair(reinterpret_cast<uint64_t>(wave.scratch));
  if (launch.properties & kPrivateSegmentSize) sgpr.word(launch.private_bytes);
  for (uint32_t i = 0; i < launch.preload_count; ++i) {
    uint32_t word;
    std::memcpy(&word, reinterpret_cast<const void*>(r.kernarg + (uint64_t{launch.preload_offset} + i) * 4), 4);
    sgpr.word(word);
  }
  sgpr.move_to(launch.user_sgprs);
  for (int i = 0; i < 3; ++i)
    if (launch.group_id[i]) sgpr.word(shape.id[i]);
  const uint32_t waves = shape.waves();
  if (launch.group_info) sgpr.word((number == 0 ? 1u << 31 : 0) | (number == waves - 1 ? 1u << 6 : 0) | waves);
  if (launch.private_segment && !has_architected_scratch(device)) sgpr.word(0);  // every wave has a base of its own

  const uint64_t scratch = reinterpret_cast<uint64_t>(wave.scratch);
  wave.flat_scratch[0] = uint32_t(scratch);
  wave.flat_scratch[1] = uint32_t(scratch >> 32);

  // Work-item ids are packed into v0, ten bits each (gfx90a and later).
  const uint32_t first = number * kLanes, left = shape.items() - first;
  wave.exec = left >= kLanes ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
  const uint32_t with_y = launch.work_item_ids >= 1, with_z = launch.work_item_ids >= 2;
  uint32_t id[3];
  work_item(shape, first, id);
  for (uint32_t lane = 0, count = std::min<uint32_t>(left, kLanes); lane < count;) {
    const uint32_t run = std::min(shape.size[0] - id[0], count - lane);
    const uint32_t start = id[0] | (id[1] * with_y) << 10 | (id[2] * with_z) << 20;
    for (uint32_t n = 0; n < run; ++n) wave.vgpr[0][lane + n] = start + n;
    lane += run;
    id[0] = 0;
    if (++id[1] == shape.size[1]) id[1] = 0, ++id[2];
  }

  wave.pc = launch.entry;
  wave.mode = launch.mode;
  wave.vgpr_count = launch.vgpr_count;
  wave.acc_offset = launch.acc_offset;
  wave.memory = launch.memory.get();
  wave.shared_aperture = kSharedAperture;
  wave.private_aperture = kPrivateAperture;
  wave.time_base = launch.time_base;
  wave.clock_mhz = device.clock_mhz;
  if (launch.clocks) launch.clocks->give(wave, group_index, number, launch.group_count);

  // Where the wave would sit if workgroups went round the dies, then the compute units of a die.
  const uint32_t cus_per_xcc = std::max(1u, device.compute_units / device.xccs);
  wave.xcc_id = uint32_t(group_index % device.xccs);
  const uint32_t cu = uint32_t(group_index / device.xccs % cus_per_xcc);
  const uint32_t engines = std::max(1u, device.shader_engines / device.xccs);
  wave.hw_id = (number / device.simds_per_cu & 15) | (number % device.simds_per_cu) << 4 | (cu / engines & 15) << 8 |
               (cu % engines & 7) << 13;
  wave.lds_alloc = ((launch.group_bytes + 255) / 256) << 12;
  wave.gpr_alloc = uint32_t((launch.vgpr_count / 8 - 1) & 63) << 8;
}

}  // namespace gpu
