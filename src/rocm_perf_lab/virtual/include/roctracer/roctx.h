// Markers and ranges for ROCm's tracers. Nothing listens to them here.
#pragma once

#include <stdint.h>

#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1

typedef uint64_t roctx_range_id_t;

static inline void roctxMarkA(const char* message) { (void)message; }
static inline int roctxRangePushA(const char* message) { (void)message; return 0; }
static inline int roctxRangePop(void) { return 0; }
static inline roctx_range_id_t roctxRangeStartA(const char* message) { (void)message; return 0; }
static inline void roctxRangeStop(roctx_range_id_t id) { (void)id; }
static inline uint32_t roctx_version_major(void) { return ROCTX_VERSION_MAJOR; }
static inline uint32_t roctx_version_minor(void) { return ROCTX_VERSION_MINOR; }

#define roctxMark(message) roctxMarkA(message)
#define roctxRangePush(message) roctxRangePushA(message)
#define roctxRangeStart(message) roctxRangeStartA(message)
