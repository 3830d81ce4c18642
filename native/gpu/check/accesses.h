// What a piece of work touched: a kernel, a copy, a fill. To the byte, as runs of lines that are touched the
// same way, so that a buffer that is read from end to end is one run.
#pragma once

#include <cstdint>
#include <vector>

#include "shadow.h"

namespace gpu::check {

struct Run {
  uint64_t line = 0, end = 0;  // lines of Shadow::kLine bytes
  Touch touch;                 // its mask is that of each line; who it was, of the first line
};

struct Accesses {
  std::vector<Run> runs;
  std::vector<uint64_t> blocks;  // stream-ordered memory that it touched, by base address
  // Of a kernel: what other work, running or submitted meanwhile, may have learned of it through memory, or
  // it of them.
  bool released = false, acquired = false;
  bool talks_to_host = false;
  bool tells_atomics = true;  // else an atomic access may look like any other
  bool small = false;         // at most eight bytes: whole, whatever is going on beside it
};

const char* told(Kind kind);  // in words

// Those of a launch, of its shadow.
std::vector<Run> runs_of(const Shadow& shadow);
// Bytes in a row, of a copy or a fill.
void add_run(std::vector<Run>& runs, uint64_t at, uint64_t bytes, Kind kind);

// The calling thread's present work, or the host by itself, read or wrote memory that the device reaches.
void touched_outside(uint64_t at, uint64_t bytes, bool write);

}  // namespace gpu::check
