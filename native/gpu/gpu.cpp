#include "gpu.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <shared_mutex>

#include "check/settings.h"
#include "dispatch.h"

namespace gpu {
namespace {

class VirtualGpu final : public Gpu {
 public:
  VirtualGpu(const DeviceSpec& device, AddressSpace& memory)
      : device_(device), memory_(memory), dispatcher_(device_, memory) {}

  const DeviceSpec& device() const override { return device_; }
  AddressSpace& memory() override { return memory_; }

  std::shared_ptr<LoadedCodeObject> load(const void* elf, size_t size, LoadError& error) override {
    auto object = CodeObject::load(elf, size, device_, memory_, error);
    if (!object) return nullptr;
    std::unique_lock lock(mutex_);
    std::erase_if(objects_, [](auto& weak) { return weak.expired(); });
    objects_.push_back(object);
    return object;
  }

  DispatchResult run(const DispatchRequest& request) override {
    Launch launch;
    DispatchResult refusal;
    if (!prepared(launch, request, refusal)) return refusal;
    if (const check::Settings* checks = check::settings(); checks && checks->watches()) {
      const bool wanted = checks->wants(demangle(launch.kernel->name));
      if (wanted || checks->init) return dispatcher_.run_checked(std::move(launch), wanted);
    }
    const rocm_perf_profiler* tool = profiler();
    ProfileRequest what = tool ? wanted_by(*tool, request, launch.kernel->name) : ProfileRequest{};
    const bool watched = anything(what);
    what.timing |= request.timed;
    if (!anything(what)) return dispatcher_.run(std::move(launch));
    const std::shared_ptr<CodeObject> object = launch.object;  // keeps the kernel's name
    const std::string& kernel = launch.kernel->name;
    DispatchProfile profile;
    DispatchResult result = dispatcher_.run_timed(std::move(launch), what, profile);
    if (watched) tell(*tool, request, kernel, result, profile);
    return result;
  }

  DispatchResult profile(const DispatchRequest& request, const ProfileRequest& what,
                         DispatchProfile& profile) override {
    Launch launch;
    DispatchResult refusal;
    return prepared(launch, request, refusal) ? dispatcher_.run_profiled(std::move(launch), what, profile) : refusal;
  }

  void flush_caches() override { dispatcher_.flush_caches(); }
  void move(const void* at, uint64_t bytes, bool here) override {
    dispatcher_.move(reinterpret_cast<uint64_t>(at), bytes, here);
  }
  void streamed(const void* at, uint64_t bytes) override {
    dispatcher_.streamed(reinterpret_cast<uint64_t>(at), bytes);
  }

 private:
  static uint64_t start_ns(const DispatchRequest& request) {
    using namespace std::chrono;
    if (request.timed) return request.start_ns;
    if (profiler()) return uint64_t{1} << 31;  // a clock that starts the same on every run
    return uint64_t(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
  }

  bool prepared(Launch& launch, const DispatchRequest& request, DispatchResult& refusal) {
    launch.request = request;
    launch.memory = memory_.snapshot();
    launch.object = find(request.kernel_object);
    launch.kernel = launch.object ? launch.object->kernel(request.kernel_object) : nullptr;
    std::string why = launch.kernel ? "" : "the packet's kernel object is not a kernel loaded on this device";
    if (why.empty()) why = prepare(launch, device_);
    if (!why.empty()) {
      refusal.ok = false;
      refusal.refused = true;
      refusal.fault.text = "rocm-perf: launch refused: " + why + "\n";
      return false;
    }
    know_hostcalls(launch);
    launch.time_base = start_ns(request) * device_.clock_mhz / 1000;
    return true;
  }

  // The buffer that kernels and the host's listener share is told from other memory by the kernel
  // argument that names it, whatever runtime allocated it.
  void know_hostcalls(Launch& launch) {
    const int32_t offset = launch.kernel->hostcall_offset;
    if (offset < 0 || uint32_t(offset) + sizeof(uint64_t) > launch.kernel->kernarg_bytes) return;
    uint64_t buffer = 0;
    std::memcpy(&buffer, reinterpret_cast<const void*>(launch.request.kernarg + uint32_t(offset)), sizeof buffer);
    const Range* range = buffer ? launch.memory->find(buffer) : nullptr;
    if (!range || range->base != buffer || range->kind == RangeKind::Hostcall || range->end - buffer < 64) return;
    memory_.set_kind(buffer, RangeKind::Hostcall);
    launch.memory = memory_.snapshot();
  }

  std::shared_ptr<CodeObject> find(uint64_t descriptor) {
    std::shared_lock lock(mutex_);
    for (auto& weak : objects_)
      if (auto object = weak.lock(); object && object->contains(descriptor)) return object;
    return nullptr;
  }

  const DeviceSpec device_;
  AddressSpace& memory_;
  std::shared_mutex mutex_;
  std::vector<std::weak_ptr<CodeObject>> objects_;
  Dispatcher dispatcher_;
};

}  // namespace

std::unique_ptr<Gpu> make_gpu(const DeviceSpec& device, AddressSpace& memory) {
  return std::make_unique<VirtualGpu>(device, memory);
}

}  // namespace gpu
