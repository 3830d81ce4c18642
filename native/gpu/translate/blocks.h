// Translated code as the executor sees it: functions for the instructions at which they may begin.
#pragma once

#include <memory>
#include <string>

#include "../exec.h"

namespace gpu::translate {

// The shared object of a kernel, checked before it is loaded: written whole, by this user alone.
// nullptr where it is not there or not sound. What was loaded stays loaded: waves may be in it on any thread.
class Library {
 public:
  static std::unique_ptr<Library> open(const std::string& path);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // From now on waves that come to these instructions of the kernel run them.
  size_t install(Program& program, uint64_t entry) const;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace gpu::translate
