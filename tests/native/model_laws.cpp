// Laws of the model's sampling.
//   model_laws                                        what is known of workgroups that are not simulated
//   model_laws DEVICE CODE_OBJECT FIRST COUNT         launches of COUNT shapes, each simulated whole and in part
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "arena.h"
#include "check.h"
#include "gpu.h"
#include "model/dispatch_profile.h"
#include "model/possible_time.h"

namespace {

using Random = std::mt19937;
uint64_t between(Random& random, uint64_t least, uint64_t most) { return least + random() % (most - least + 1); }

// Against the plainest model there is: a list of all. Lengths round which parts are made anew come often.
void executed_agrees_with_a_list() {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    uint64_t places = between(random, 1, 9000);
    if (round % 3 == 0) places = (between(random, 1, 16) << between(random, 7, 12)) + between(random, 0, 2) - 1;
    const uint64_t most = between(random, 1, 400);
    gpu::Executed executed;
    std::vector<uint64_t> up_to{0};
    uint64_t longest = 0;
    for (uint64_t place = 0; place < places; ++place) {
      const uint64_t steps = between(random, 1, most);
      executed.add(place, steps, steps, 0);
      up_to.push_back(up_to.back() + steps);
      longest = std::max(longest, steps);
    }
    CHECK(executed.places() == places && executed.total() == up_to.back() && executed.longest() == longest);
    CHECK(executed.steps(0, places) == up_to.back());
    const uint64_t from = between(random, 0, places), to = between(random, from, places);
    // As exactly as parts are kept: there are at least 2048 of them.
    const double slack = 2.0 * double(most) * std::ceil(double(places) / 2048) + 1;
    CHECK(std::abs(double(executed.steps(from, to)) - double(up_to[to] - up_to[from])) <= slack);
  }
}

// Any dispatch is thinned to between a half and all of what may be kept, spread over all of it.
void windows_are_spread_evenly() {
  Random random(2);
  for (int round = 0; round < 2000; ++round) {
    const uint64_t places = between(random, 1, 20000), room = between(random, 8, 500);
    gpu::Windows windows;
    std::vector<uint64_t> kept;
    for (uint64_t place = 0; place < places; ++place) {
      if (windows.takes(place)) kept.push_back(place);
      if (kept.size() <= room) continue;
      windows.thin(place + 1);
      std::erase_if(kept, [&](uint64_t k) { return !windows.takes(k); });
    }
    CHECK(kept.size() <= room && kept.size() * 8 >= std::min(places, room));
    CHECK(kept.front() == 0 && (windows.whole() || (places - kept.back()) * 2 <= places));
    for (size_t i = 1; i < kept.size(); ++i) CHECK(windows.window(kept[i]) >= windows.window(kept[i - 1]));
  }
}

struct Shape {
  uint32_t block = 64, groups = 1, rows = 1;
  struct {
    uint64_t in, out;
    uint32_t words, turns, variation, lds, stride, divergent;
  } arguments{};
};

Shape shape_of(uint32_t seed) {
  Random random(seed);
  Shape shape;
  shape.block =
      uint32_t(64 << between(random, 0, 3)) - uint32_t(between(random, 0, 3) == 0 ? between(random, 1, 40) : 0);
  shape.groups = uint32_t(between(random, 1, 6) << between(random, 4, 9)) + uint32_t(between(random, 0, 4)) - 2;
  // About as much to do, however many workgroups there are.
  const uint32_t waves = shape.groups * ((shape.block + 63) / 64);
  shape.rows = between(random, 0, 2) == 0 ? uint32_t(between(random, 2, 4)) : 1;
  shape.arguments.turns = uint32_t(between(random, 0, std::clamp<uint64_t>(6000 / waves, 1, 64)));
  shape.arguments.variation = uint32_t(between(random, 0, 3));
  shape.arguments.lds = uint32_t(between(random, 0, 1));
  shape.arguments.stride = uint32_t(1) << between(random, 0, 6);
  shape.arguments.divergent = uint32_t(between(random, 0, 1));
  return shape;
}

// A launch that is sampled fills the device several times over; a small one is filled by a small launch.
gpu::DeviceSpec small_device(gpu::DeviceSpec spec) {
  spec.xccs = std::min(spec.xccs, 2u);
  spec.shader_engines = spec.xccs;
  spec.compute_units = 2 * spec.xccs;
  return spec;
}
// Wave-instructions simulated of a part: a compute unit's share of the limit in use, on the whole device.
uint64_t detailed(const gpu::DeviceSpec& spec) { return 4'000'000 / spec.compute_units; }

class Launcher {
 public:
  Launcher(const gpu::DeviceSpec& spec, const std::vector<char>& image) : device_(gpu::make_gpu(spec, memory_)) {
    gpu::LoadError error;
    object_ = device_->load(image.data(), image.size(), error);
    CHECK(object_);
    for (const gpu::KernelSymbol& kernel : object_->kernels())
      if (kernel.name == "shaped") kernel_ = &kernel;
    CHECK(kernel_);
    in_ = give(kWords * 4, gpu::RangeKind::Vram);
    out_ = give(kWords * 4, gpu::RangeKind::Vram);
    arguments_ = give(4096, gpu::RangeKind::Kernarg);
  }
  gpu::DispatchResult profile(Shape shape, uint64_t steps, gpu::DispatchProfile& profile) {
    shape.arguments.in = in_;
    shape.arguments.out = out_;
    shape.arguments.words = kWords;
    std::memcpy(reinterpret_cast<void*>(arguments_), &shape.arguments, sizeof shape.arguments);
    gpu::DispatchRequest request;
    request.dims = 2;
    request.workgroup[0] = shape.block;
    request.grid[0] = shape.groups * shape.block;
    request.grid[1] = shape.rows;
    request.kernel_object = kernel_->descriptor;
    request.kernarg = arguments_;
    request.group_bytes = kernel_->group_bytes;
    request.private_bytes = kernel_->private_bytes;
    gpu::ProfileRequest what{};
    what.timing = true;
    what.detailed_steps = steps;
    device_->flush_caches();
    return device_->profile(request, what, profile);
  }

 private:
  static constexpr size_t kWords = size_t{1} << 20;
  uint64_t give(size_t bytes, gpu::RangeKind kind) {
    const uint64_t at = reinterpret_cast<uint64_t>(gpu::arena().allocate(bytes));
    memory_.add({at, at + bytes, kind});
    return at;
  }
  gpu::AddressSpace memory_;
  std::unique_ptr<gpu::Gpu> device_;
  std::shared_ptr<gpu::LoadedCodeObject> object_;
  const gpu::KernelSymbol* kernel_ = nullptr;
  uint64_t in_ = 0, out_ = 0, arguments_ = 0;
};

// One line a shape: its seed and wave-instructions, both durations, the error that the part was said to have,
// and how much of it was simulated.
void parts_stay_close_to_wholes(Launcher& launcher, uint64_t steps, uint32_t first, uint32_t count) {
  for (uint32_t seed = first; seed < first + count; ++seed) {
    const Shape shape = shape_of(seed);
    gpu::DispatchProfile whole, part;
    const gpu::DispatchResult all = launcher.profile(shape, uint64_t{1} << 40, whole);
    if (!all.ok) std::fputs(all.fault.text.c_str(), stderr);
    CHECK(all.ok && whole.detailed_fraction == 1 && whole.sampling_error == 0);
    const gpu::DispatchResult some = launcher.profile(shape, steps, part);
    if (!some.ok) std::fputs(some.fault.text.c_str(), stderr);
    CHECK(some.ok && some.wave_instructions == all.wave_instructions);
    std::printf("%u %llu %llu %llu %.4f %.4f\n", seed, (unsigned long long)all.wave_instructions,
                (unsigned long long)whole.duration_ns, (unsigned long long)part.duration_ns, part.sampling_error,
                part.detailed_fraction);
  }
}

// A device whose clock stands still: no number comes of it.
void an_impossible_time_is_an_error(gpu::DeviceSpec spec, const std::vector<char>& image) {
  spec.clock_mhz = 0;
  Launcher launcher(spec, image);
  gpu::DispatchProfile profile;
  const gpu::DispatchResult result = launcher.profile(shape_of(0), 0, profile);
  CHECK(!result.ok && result.fault.text.find("impossible time of kernel shaped") != std::string::npos);
  CHECK(profile.duration_ns == 0 && result.duration_ns == 0);
  const gpu::PossibleTime possible{10, 20};
  CHECK(possible.hold(10) && possible.hold(20) && !possible.hold(9) && !possible.hold(21) && !possible.hold(NAN));
}

}  // namespace

int main(int count, char** words) {
  if (count == 1) {
    executed_agrees_with_a_list();
    windows_are_spread_evenly();
    return 0;
  }
  if (count != 5) return 2;
  const gpu::DeviceSpec* known = gpu::find_device(words[1]);
  std::ifstream file(words[2], std::ios::binary);
  const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  CHECK(known && !image.empty());
  an_impossible_time_is_an_error(*known, image);
  const gpu::DeviceSpec small = small_device(*known);
  Launcher launcher(small, image);
  parts_stay_close_to_wholes(launcher, detailed(*known), uint32_t(std::strtoul(words[3], nullptr, 10)),
                             uint32_t(std::strtoul(words[4], nullptr, 10)));
}
