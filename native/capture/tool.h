// All that the library knows, in one object. It is made when a runtime loads the library into a program that
// is to be captured, and stays until the process ends: the functions put into the runtime's tables have no
// argument to find it by, and the program's threads may call them after static objects are gone.
#pragma once

#include "capture.h"
#include "code.h"
#include "gate.h"
#include "launches.h"
#include "memory.h"
#include "output.h"
#include "queues.h"
#include "tables.h"

namespace capture {

struct Tool {
  explicit Tool(Config wanted) : config(std::move(wanted)), output(config.folder) {}

  const Config config;
  Output output;
  Tables tables;
  Gate gate;
  MemoryBooks memory;
  CodeBooks code;
  Launches launches;
  Queues queues;
  Captures captures;
};

Tool& tool();
inline const CoreApiTable& core() { return tool().tables.core; }
inline const AmdExtTable& amd() { return tool().tables.amd; }

}  // namespace capture
