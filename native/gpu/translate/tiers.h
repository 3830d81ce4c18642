// Kernels that stay hot are translated while they run, and go on as host code (docs/translate.md).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../exec.h"
#include "translator.h"

namespace gpu::translate {

// Of one kernel at one place.
class Kernel;

class Tiers {
 public:
  Tiers();   // by ROCM_PERF_VIRTUAL_TRANSLATE
  ~Tiers();
  bool on() const { return mode_ != Mode::Off; }
  // The kernel that a launch begins at; nullptr where nothing is translated.
  Kernel* kernel(Program& program, uint64_t entry);
  // So many wave-instructions of it were executed. Quick; from any thread.
  void ran(Kernel* kernel, uint64_t instructions);

 private:
  enum class Mode { Off, On, Always };
  void look(Kernel& kernel);
  void load(Kernel& kernel);

  Mode mode_ = Mode::Off;
  std::string translator_, folder_;
  std::mutex mutex_;
  std::map<std::pair<uint64_t, uint64_t>, std::unique_ptr<Kernel>> kernels_;
  std::vector<Kernel*> underway_;
};

}  // namespace gpu::translate
