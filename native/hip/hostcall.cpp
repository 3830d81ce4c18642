#include "hostcall.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <thread>

#include "device_printf.h"
#include "entry.h"

namespace hip {

namespace {

enum Service : uint32_t { kFunctionCall = 1, kPrintf = 2, kDeviceMemory = 3 };

class Listener {
 public:
  Listener(Device& device, HostcallBuffer* buffer) : device_(device), buffer_(buffer) {
    std::thread([this] { loop(); }).detach();
  }

 private:
  void loop() {
    // The bell is rung by an atomic of the device; the timeout covers a ring between two looks.
    const uint64_t slice = runtime().timestamp_hz / 1000;
    hsa_signal_value_t seen = 0;
    for (;;) {
      hsa_signal_value_t now =
          hsa_signal_wait_scacquire(buffer_->doorbell, HSA_SIGNAL_CONDITION_NE, seen, slice, HSA_WAIT_STATE_BLOCKED);
      seen = now;
      serve();
    }
  }

  void serve() {
    uint64_t top = __atomic_exchange_n(&buffer_->ready_stack, uint64_t{0}, __ATOMIC_ACQUIRE);
    while (top) {
      HostcallHeader& header = buffer_->headers[top & buffer_->index_mask];
      HostcallPayload& payload = buffer_->payloads[top & buffer_->index_mask];
      // Once READY falls the wave owns the packet again.
      const uint64_t next = header.next;
      for (uint64_t mask = header.active_mask; mask; mask &= mask - 1)
        handle(header.service, payload.slots[__builtin_ctzll(mask)]);
      __atomic_and_fetch(&header.control, ~1u, __ATOMIC_RELEASE);
      top = next;
    }
  }

  void handle(uint32_t service, uint64_t* words) {
    switch (service) {
      case kFunctionCall: {
        uint64_t result[2] = {0, 0};
        reinterpret_cast<void (*)(uint64_t*, const uint64_t*)>(words[0])(result, words + 1);
        std::memcpy(words, result, sizeof result);
        break;
      }
      case kPrintf: {
        PrintfMessages::Output output = messages_.handle(words);
        if (!output.complete) break;
        FILE* stream = output.to_stderr ? stderr : stdout;
        std::fwrite(output.text.data(), 1, output.text.size(), stream);
        if (output.text.find("Device-side assertion") != std::string::npos) device_.assert_seen.store(true);
        break;
      }
      case kDeviceMemory: words[0] = words[0] ? release(words[0]) : allocate(words[1]); break;
      default: not_supported("a hostcall service this runtime does not know"); words[0] = words[1] = 0;
    }
  }

  uint64_t allocate(uint64_t size) {
    constexpr uint64_t kSlab = 2 << 20;  // the device library finds a slab by masking addresses
    void* block = nullptr;
    const uint64_t padding = size == kSlab ? kSlab : 0;
    if (size == 0 || hsa_amd_memory_pool_allocate(device_.coarse, size + padding, 0, &block) != HSA_STATUS_SUCCESS)
      return 0;
    auto address = reinterpret_cast<uint64_t>(block);
    if (padding) address = (address + kSlab - 1) & ~(kSlab - 1);
    blocks_[address] = block;
    return address;
  }

  uint64_t release(uint64_t address) {
    auto found = blocks_.find(address);
    if (found == blocks_.end()) return 0;
    hsa_amd_memory_pool_free(found->second);
    blocks_.erase(found);
    return 0;
  }

  Device& device_;
  HostcallBuffer* buffer_;
  PrintfMessages messages_;
  std::map<uint64_t, void*> blocks_;  // what device malloc gave out: address -> HSA's block
};

HostcallBuffer* create_buffer(Device& device) {
  // One packet for each wave the device can hold at once.
  const auto& properties = device.properties;
  auto packets = uint32_t(properties.multiProcessorCount) * device.simds_per_cu * device.waves_per_simd;
  if (packets < 64) packets = 64;
  uint64_t power = 1;
  while (power < packets) power *= 2;
  const size_t headers = 64;
  const size_t payloads = (headers + packets * sizeof(HostcallHeader) + 4095) & ~size_t{4095};
  const size_t bytes = payloads + packets * sizeof(HostcallPayload);
  void* base = nullptr;
  if (hsa_amd_memory_pool_allocate(runtime().host_fine, bytes, 0, &base) != HSA_STATUS_SUCCESS) return nullptr;
  hsa_amd_agents_allow_access(1, &device.agent, nullptr, base);
  auto* buffer = static_cast<HostcallBuffer*>(base);
  buffer->headers = reinterpret_cast<HostcallHeader*>(static_cast<char*>(base) + headers);
  buffer->payloads = reinterpret_cast<HostcallPayload*>(static_cast<char*>(base) + payloads);
  buffer->index_mask = power - 1;
  if (hsa_signal_create(0, 0, nullptr, &buffer->doorbell) != HSA_STATUS_SUCCESS) return nullptr;
  // Index 0 carries tag 1, for 0 is the null pointer; it ends the list of free packets.
  buffer->headers[0] = {};
  uint64_t top = power;
  for (uint32_t i = 1; i < packets; ++i) {
    buffer->headers[i] = {top, 0, 0, 0};
    top = i;
  }
  buffer->free_stack = top;
  buffer->ready_stack = 0;
  return buffer;
}

}  // namespace

void* hostcall_buffer(Device& device) {
  std::lock_guard lock(device.mutex);
  if (!device.hostcall) {
    HostcallBuffer* buffer = create_buffer(device);
    if (!buffer) return nullptr;
    device.hostcall = std::make_unique<Hostcall>();
    device.hostcall->buffer = buffer;
    new Listener(device, buffer);  // lives as long as the process, like the device
  }
  return device.hostcall->buffer;
}

}  // namespace hip
