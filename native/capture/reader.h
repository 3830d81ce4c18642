// Memory of any device, brought to the host by the runtime: it is never read in place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hsa/hsa_ext_amd.h"

namespace capture {

class Reader {
 public:
  static constexpr uint64_t kMost = 4 << 20;  // at once

  Reader();
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Up to kMost bytes that belong to the agent (0: not known), valid until the next call. Null, with
  // the reason, where they cannot be had.
  const uint8_t* read(uint64_t address, uint64_t size, uint64_t agent, std::string& failure);

 private:
  bool is_gpu(uint64_t agent) const;

  std::vector<hsa_agent_t> gpus_;
  hsa_agent_t cpu_{};
  void* pinned_ = nullptr;  // where a device may copy to
  std::vector<uint8_t> plain_;
  hsa_signal_t copied_{};
};

}  // namespace capture
