#include "launches.h"

#include <unistd.h>

#include <cstring>
#include <sstream>
#include <thread>
#include <vector>

#include "tool.h"

namespace capture {

namespace {

constexpr size_t kMost = 50'000;  // different ones; then a line says that there were more

bool is_gpu(uint64_t agent) {
  hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
  return agent && core().hsa_agent_get_info_fn({agent}, HSA_AGENT_INFO_DEVICE, &type) == HSA_STATUS_SUCCESS &&
         type == HSA_DEVICE_TYPE_GPU;
}

// False: they could not be had.
bool read_arguments(const void* address, std::vector<uint8_t>& bytes) {
  if (bytes.empty()) return true;
  if (!address) return false;
  if (!is_gpu(tool().memory.allocation_at(reinterpret_cast<uint64_t>(address)).agent)) {
    std::memcpy(bytes.data(), address, bytes.size());
    return true;
  }
  // A copy may ring queues of the runtime's own, which a handler must not.
  hsa_status_t status = HSA_STATUS_ERROR;
  std::thread([&] { status = core().hsa_memory_copy_fn(bytes.data(), address, bytes.size()); }).join();
  return status == HSA_STATUS_SUCCESS;
}

}  // namespace

void Launches::record(const hsa_kernel_dispatch_packet_t& packet, const Kernel& kernel, uint64_t index) {
  std::vector<uint8_t> bytes(kernel.kernarg_bytes);
  const bool known = read_arguments(packet.kernarg_address, bytes);
  const unsigned dimensions = packet.setup & 3;
  std::ostringstream out;
  out << hex(kernel.name) << ' ' << packet.grid_size_x << ' ' << (dimensions > 1 ? packet.grid_size_y : 1) << ' '
      << (dimensions > 2 ? packet.grid_size_z : 1) << ' ' << packet.workgroup_size_x << ' '
      << (dimensions > 1 ? packet.workgroup_size_y : 1) << ' ' << (dimensions > 2 ? packet.workgroup_size_z : 1) << ' '
      << packet.group_segment_size << ' '
      << (known ? hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) : "?");
  for (size_t at = 0; known && at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    const Piece piece = tool().memory.allocation_at(word);
    if (piece.size) out << ' ' << at << ':' << piece.base << ':' << piece.size;
  }
  const std::string line = out.str();
  std::lock_guard lock(mutex_);
  const bool more = seen_.size() >= kMost;
  if (more ? told_more_ || seen_.contains(line) : !seen_.insert(line).second) return;
  told_more_ = more;
  tool().output.append_line(
      "launches", more ? "more" : "launch " + std::to_string(getpid()) + " " + std::to_string(index) + " " + line);
}

}  // namespace capture
