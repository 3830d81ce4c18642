// The virtual GPU as the HSA layer sees it: load code objects, launch AQL dispatches, hear of
// faults. Nothing above HSA includes this header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "memory.h"
#include "model/dispatch_profile.h"
#include "wave.h"

namespace gpu {

// Numbers of one virtual device, written by rocm_perf_lab.virtual.device_specs.
struct DeviceSpec {
  std::string name;            // "virtual:mi300x"
  std::string marketing_name;  // shown to programs, and says that it is virtual
  std::string architecture;    // "gfx942"
  uint32_t compute_units = 0, xccs = 1, shader_engines = 1, simds_per_cu = 4, waves_per_simd = 8;
  uint32_t clock_mhz = 0, memory_clock_mhz = 0, memory_bus_bits = 0;
  uint64_t memory_bytes = 0;
  uint32_t lds_bytes_per_cu = 65536, l1_bytes = 0, l2_bytes = 0, l3_bytes = 0, chip_id = 0, revision = 0;
  bool apu = false;
};
const std::vector<DeviceSpec>& devices();
const DeviceSpec* find_device(std::string_view name);  // nullptr if unknown
// The architecture of a GPU that is described but whose code is not executed here, or nullptr.
const char* not_executed(std::string_view name);

struct KernelSymbol {
  std::string name;          // without ".kd"
  uint64_t descriptor = 0;   // device address of the 64-byte kernel descriptor (kernel_object)
  uint64_t entry = 0;        // device address of the first instruction
  uint64_t code_bytes = 0;   // size of the function symbol, 0 if there is none
  uint32_t kernarg_bytes = 0, kernarg_align = 16, group_bytes = 0, private_bytes = 0;
  uint32_t sgpr_count = 0, vgpr_count = 0, agpr_count = 0, wavefront_size = 64;
  uint32_t max_flat_workgroup_size = 1024;
  bool uses_dynamic_stack = false;
  int32_t hostcall_offset = -1;  // where the arguments hold the hostcall buffer, if anywhere
};

struct VariableSymbol {
  std::string name;
  uint64_t address = 0, size = 0;
  bool external = true, constant = false;
};

// A code object loaded at a device address: segments copied, relocations applied.
class LoadedCodeObject {
 public:
  virtual ~LoadedCodeObject() = default;
  virtual std::string_view isa() const = 0;  // "gfx942"
  virtual uint64_t load_base() const = 0;
  virtual uint64_t load_size() const = 0;
  virtual int64_t load_delta() const = 0;
  virtual const std::vector<KernelSymbol>& kernels() const = 0;
  virtual const std::vector<VariableSymbol>& variables() const = 0;
  virtual const std::vector<Range>& segments() const = 0;
  // The variables that must be defined before the object can run, by name.
  virtual const std::vector<std::string>& undefined() const = 0;
  virtual void define(std::string_view name, uint64_t address) = 0;
};

struct LoadError {
  std::string message;
  bool wrong_isa = false;
};

struct DispatchRequest {           // the fields of an AQL kernel dispatch packet
  uint64_t packet_address = 0;     // for hidden dispatch_ptr users; the packet stays valid
  uint16_t dims = 1;
  uint16_t workgroup[3] = {1, 1, 1};
  uint32_t grid[3] = {1, 1, 1};    // work-items
  uint32_t private_bytes = 0, group_bytes = 0;
  uint64_t kernel_object = 0, kernarg = 0;
  uint64_t queue_address = 0;      // hsa_queue_t*
  uint64_t dispatch_id = 0;
  bool timed = false;              // the model shall say how long it takes
  uint64_t start_ns = 0;           // timed: when, by the device's modelled clock
  std::function<void()> gets_nowhere;  // timed: called where it may wait for work that comes after it
  bool only_queue = false;         // the process has had no other: nothing else runs meanwhile
};

struct FaultReport {
  Fault fault;
  std::string text;                // the whole message for a person, several lines
  std::string kernel;
  uint32_t workgroup[3] = {0, 0, 0};
};

struct DispatchResult {
  bool ok = true;
  bool refused = false;            // the packet itself is wrong: nothing ran
  FaultReport fault;               // when !ok
  uint64_t wave_instructions = 0, waves = 0, workgroups = 0;
  uint64_t duration_ns = 0;        // by the model, where it was asked for
  uint32_t compute_units = 0;      // that it used, by the model
  std::array<uint64_t, kMaxClasses> counts{};  // wave-instructions by class
};

class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual const DeviceSpec& device() const = 0;
  virtual AddressSpace& memory() = 0;
  virtual std::shared_ptr<LoadedCodeObject> load(const void* elf, size_t size, LoadError& error) = 0;
  // Runs to completion on the calling thread plus the executor's worker threads; dispatches of
  // different queues may be submitted from different threads at once.
  // Where a profiler is set (model/profiler.h), it is asked and told.
  virtual DispatchResult run(const DispatchRequest& request) = 0;
  virtual DispatchResult profile(const DispatchRequest& request, const ProfileRequest& what,
                                 DispatchProfile& profile) = 0;
  // The modelled caches hold nothing of what was used before.
  virtual void flush_caches() = 0;
  // Managed memory is moved to the device, or away from it.
  virtual void move(const void* at, uint64_t bytes, bool here) = 0;
  // A copy or a fill went through this memory.
  virtual void streamed(const void* at, uint64_t bytes) = 0;
};

// Devices of one process share its address space.
std::unique_ptr<Gpu> make_gpu(const DeviceSpec& device, AddressSpace& memory);

}  // namespace gpu
