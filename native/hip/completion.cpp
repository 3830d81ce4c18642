#include "completion.h"

#include <mutex>
#include <vector>

namespace hip {

namespace {
struct Pool {
  std::mutex mutex;
  std::vector<Completion*> free;
};
// Never destroyed: worker threads may outlive static destructors.
Pool& pool() {
  static Pool* instance = new Pool;
  return *instance;
}
}  // namespace

CompletionRef make_completion(Device* device) {
  Completion* completion = nullptr;
  {
    std::lock_guard lock(pool().mutex);
    if (!pool().free.empty()) {
      completion = pool().free.back();
      pool().free.pop_back();
    }
  }
  if (completion) {
    hsa_signal_store_relaxed(completion->signal, 1);
  } else {
    completion = new Completion;
    if (hsa_signal_create(1, 0, nullptr, &completion->signal) != HSA_STATUS_SUCCESS) {
      delete completion;
      return {};
    }
  }
  completion->device = device;
  return CompletionRef(completion);
}

void CompletionRef::release() {
  if (!completion_) return;
  if (completion_->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::lock_guard lock(pool().mutex);
  pool().free.push_back(completion_);
}

}  // namespace hip
