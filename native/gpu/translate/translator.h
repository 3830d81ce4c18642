// The translator is a program of its own (rocm_perf_lab.virtual.translate), run beside this process.
#pragma once

#include <sys/types.h>

#include <string>

namespace gpu::translate {

class Translation {
 public:
  // Begins to translate `request` into the file `target`. Not running where it could not be started.
  static Translation begin(const std::string& translator, const std::string& request, const std::string& target);
  Translation() = default;

  bool running() const { return pid_ > 0; }
  // Whether it has ended; its file is there then if it succeeded.
  bool ended();
  void wait();

 private:
  explicit Translation(pid_t pid) : pid_(pid) {}
  pid_t pid_ = 0;
};

}  // namespace gpu::translate
