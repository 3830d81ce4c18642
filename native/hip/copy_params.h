// The structs that describe copies in two and three dimensions, as one kind of request.
#pragma once

#include "memory.h"

namespace hip {

hipError_t copy_request(const hipMemcpy3DParms* p, CopyRequest& request);
hipError_t copy_request(const HIP_MEMCPY3D* p, CopyRequest& request);
hipError_t copy_request(const hip_Memcpy2D* p, CopyRequest& request);

}  // namespace hip
