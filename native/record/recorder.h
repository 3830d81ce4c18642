// The recorder's parts: HIP calls, HSA packets and copies, and the models' word on each dispatch.
#pragma once

#include <cstdint>

#include "hip_hook.h"
#include "hsa/hsa_api_trace.h"
#include "selection.h"

namespace record {

const Config& config();
Selection& selection();

// The call in progress on this thread and its stream; 0 outside HIP.
uint64_t correlation();
uint64_t stream();

void hook_tables(HsaApiTable* table);  // hooks.cpp

// The packet's reserved word carries the launch's number and what is wanted of it.
constexpr uint64_t kWantCounters = 1ull << 62, kWantAtt = 1ull << 63, kNumber = kWantCounters - 1;

}  // namespace record
