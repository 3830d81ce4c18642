#include "allocations.h"

#include <map>
#include <mutex>

#include "host_stack.h"
#include "settings.h"

namespace gpu::check {
namespace {

constexpr size_t kFreedRemembered = 1 << 13;  // as AddressSpace does
constexpr size_t kLiveTold = 1000;

struct Allocation {
  uint64_t size = 0;
  HostStack stack;
  bool told = false;
};

struct Books {
  std::mutex mutex;
  std::map<uint64_t, Allocation> live, freed;
};

Books& books() {
  static Books& all = *new Books;  // outlives every thread and static destructor
  return all;
}

void write(uint64_t base, Allocation& allocation) {
  if (allocation.told) return;
  allocation.told = true;
  record::Line line("allocation");
  line.number("base", base).number("size", allocation.size);
  allocation.stack.write(line);
  line.write();
}

}  // namespace

void allocated(uint64_t base, uint64_t size) {
  if (!settings()) return;
  const HostStack stack = HostStack::here();
  std::lock_guard lock(books().mutex);
  books().freed.erase(base);
  books().live[base] = {size, stack, false};
}

void freed(uint64_t base) {
  if (!settings()) return;
  std::lock_guard lock(books().mutex);
  const auto found = books().live.find(base);
  if (found == books().live.end()) return;
  if (books().freed.size() == kFreedRemembered) books().freed.erase(books().freed.begin());
  books().freed[base] = found->second;
  books().live.erase(found);
}

void write_stack(uint64_t base) {
  std::lock_guard lock(books().mutex);
  for (auto* list : {&books().live, &books().freed})
    if (const auto found = list->find(base); found != list->end()) return write(base, found->second);
}

void write_live() {
  std::lock_guard lock(books().mutex);
  size_t told = 0;
  for (auto& [base, allocation] : books().live) {
    if (++told > kLiveTold) return;
    write(base, allocation);
    record::Line("live").number("base", base).write();
  }
}

}  // namespace gpu::check
