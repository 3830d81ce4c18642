// The process's view of the machine: HSA, its agents and pools, and one Device per GPU agent.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "completion.h"
#include "internal_api.h"
#include "residency/residency.h"

namespace hip {

struct Stream;
struct MemoryPool;
struct Hostcall;

struct Device {
  int index = 0;
  hsa_agent_t agent{};
  hsa_amd_memory_pool_t coarse{}, fine{};  // device memory
  std::string isa;                         // "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
  std::string target;                      // "gfx942:sramecc+:xnack-"
  std::string product;
  hipDeviceProp_tR0600 properties{};
  const residency::Limits* wave_limits = nullptr;  // nullptr: of an architecture nobody described
  uint32_t simds_per_cu = 4, waves_per_simd = 8, xccs = 1;
  size_t memory_granule = 4096;
  size_t limits[8] = {};  // by hipLimit_t
  unsigned flags = 0;

  // Submission to any stream of the device happens under this lock.
  std::recursive_mutex mutex;
  std::vector<Stream*> streams;  // created ones, without the null stream
  Stream* null_stream = nullptr;
  std::vector<Stream*> branch_streams;  // of graphs
  std::vector<hsa_queue_t*> idle_queues;
  std::vector<std::pair<hsa_queue_t*, int>> shared_queues;  // queue, streams on it

  std::unique_ptr<MemoryPool> default_pool;
  MemoryPool* current_pool = nullptr;
  std::unique_ptr<Hostcall> hostcall;
  void* heap = nullptr;             // of hidden_heap_v1
  std::vector<bool> peers;          // hipDeviceEnablePeerAccess

  // The first fault of a kernel; every later call on the device returns it.
  std::atomic<int> fault{hipSuccess};
  std::atomic<bool> assert_seen{false};

  void report_fault(hsa_status_t status);
  hipError_t fault_status() const { return static_cast<hipError_t>(fault.load()); }
};

struct Runtime {
  hsa_agent_t cpu{};
  hsa_amd_memory_pool_t host_fine{}, host_coarse{}, kernarg{};
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<hsa_agent_t> agents;  // of the devices
  uint64_t timestamp_hz = 1'000'000'000;
  hipError_t status = hipSuccess;   // why there are no devices
};

// Started by the first call that needs it.
Runtime& runtime();

// The calling thread's device; null, with the reason in runtime().status, where there is none.
Device* current_device();
Device* device_at(int index);  // null if there is no such device
uint64_t next_stream_id();     // of the process, after those of the null streams

// hipSuccess, or why the current device cannot be used (none there, or an earlier fault).
hipError_t check_device(Device*& device);

void fill_properties(Device& device);
hipDeviceProp_tR0000 older_properties(const hipDeviceProp_tR0600& properties);  // ROCm 5's layout
int device_attribute(const Device& device, hipDeviceAttribute_t attribute, bool& known);

hipError_t error_from_hsa(hsa_status_t status);

// Waits for work; the device's fault where one ends the wait.
hipError_t wait(const CompletionRef& completion);

}  // namespace hip
