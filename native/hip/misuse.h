// Under `rocm-perf check`: calls that do something, but hardly what was meant.
#pragma once

#include "event.h"
#include "memory.h"

namespace hip {

// A copy that has been found possible: is it of the kind that it says?
void check_kind(const CopyRequest& request);
// An event is recorded where it does not belong.
void check_recorded(const Event& event, const Stream& stream);

}  // namespace hip
