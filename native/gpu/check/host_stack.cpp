#include "host_stack.h"

#include <dlfcn.h>
#include <execinfo.h>

namespace gpu::check {

HostStack HostStack::here() {
  HostStack stack;
  stack.count_ = backtrace(stack.at_.data(), kFrames);
  return stack;
}

std::string HostStack::key() const {
  return {reinterpret_cast<const char*>(at_.data()), size_t(count_) * sizeof at_[0]};
}

void HostStack::write(record::Line& line) const {
  line.open("stack", '[');
  for (int i = 0; i < count_; ++i) {
    Dl_info found{};
    // A return address: the call is just before it.
    char* const call = static_cast<char*>(at_[size_t(i)]) - 1;
    if (!dladdr(call, &found) || !found.dli_fname) continue;
    line.comma();
    line.append('{');
    line.string("module", found.dli_fname).number("base", reinterpret_cast<uint64_t>(found.dli_fbase));
    line.number("address", reinterpret_cast<uint64_t>(call));
    if (found.dli_sname) line.string("symbol", found.dli_sname);
    line.close('}');
  }
  line.close(']');
}

}  // namespace gpu::check
