// The HIP release whose interface these headers and the runtime follow.
#ifndef ROCM_PERF_HIP_VERSION_H
#define ROCM_PERF_HIP_VERSION_H

#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 4
#define HIP_VERSION_PATCH 43482
#define HIP_VERSION_GITHASH "virtual"
#define HIP_VERSION_BUILD_ID 0
#define HIP_VERSION_BUILD_NAME "rocm-perf-lab"
#define HIP_VERSION \
  (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

#endif
