// What HIP keeps per thread.
#pragma once

#include <cstdint>
#include <vector>

#include "internal_api.h"

namespace hip {

struct LaunchConfiguration {
  dim3 grid, block;
  size_t dynamic_shared = 0;
  hipStream_t stream = nullptr;
  std::vector<char> arguments;  // of hipSetupArgument
};

struct ThreadState {
  int device = 0;
  hipError_t last_error = hipSuccess;   // of hipGetLastError
  hipError_t last_status = hipSuccess;  // of hipExtGetLastError: the very last call
  hipStreamCaptureMode capture_mode = hipStreamCaptureModeGlobal;
  std::vector<LaunchConfiguration> configurations;
  std::vector<hipStream_t> default_streams;  // hipStreamPerThread, by device
  ~ThreadState();                            // another thread may have them
  std::vector<hipCtx_t> contexts;
  uint64_t correlation_id = 0;
  uint64_t stream_id = 0;
};

ThreadState& thread_state();

}  // namespace hip
