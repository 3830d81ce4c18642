// One capture: hold everything, look, run the kernel alone, look again, let go.
#pragma once

#include <cstdint>
#include <string>

#include "queues.h"

namespace capture {

struct Kernel;

bool finished();           // captured, refused or failed: nothing is left to do
uint64_t count_dispatch();  // its number in the process, from 0
// True for one launch of one process: whoever hears it must capture.
bool is_target(const Kernel* kernel, uint64_t index);

// In the handler of the queue; passes the packet on.
void capture_dispatch(Queue& queue, const hsa_kernel_dispatch_packet_t& packet, const Kernel& kernel, uint64_t index, uint64_t number,
                      Writer writer);

// Something that makes the capture less than faithful.
void note_problem(const std::string& reason);

}  // namespace capture
