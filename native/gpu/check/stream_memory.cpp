#include "stream_memory.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "ledger.h"
#include "work_side.h"

namespace gpu::check {
namespace {

std::atomic<bool> in_use{false};

void tell(const char* kind, uint64_t base, WorkId first, const char* did_first, WorkId then, const char* did_then) {
  const std::string key = std::string(kind) + " " + place_of(first) + " " + place_of(then);
  Counter* const counter = findings().place(key, [&](record::Line& line) {
    line.string("tool", "memory").string("kind", kind).string("why", "stream").number("bytes", 0);
    describe_memory(line, base);
    line.open("sides", '[');
    describe(line, first, did_first);
    describe(line, then, did_then);
    line.close(']');
  });
  ++*counter;
}

}  // namespace

bool stream_memory_in_use() { return in_use.load(std::memory_order_relaxed); }

void stream_gave(uint64_t base, uint64_t size) {
  if (!work_is_ordered()) return;
  in_use = true;
  ledger().note([=, at = last_submitted()](Ledger& all) { all.stream_memory().given(base, size, at); });
}

void stream_freed(uint64_t base) {
  if (!work_is_ordered()) return;
  ledger().note([=, at = last_submitted()](Ledger& all) { all.stream_memory().freed(base, at); });
}

void StreamMemory::given(uint64_t base, uint64_t size, WorkId at) { blocks_[base] = {size, at, 0, {}}; }

void StreamMemory::freed(uint64_t base, WorkId at) {
  const auto found = blocks_.find(base);
  if (found == blocks_.end()) return;
  Block& block = found->second;
  block.freed = at;
  for (const WorkId user : block.users)
    if (!before(user, at)) tell("free-unordered", base, user, "use", at, "free");
  block.users.clear();
}

void StreamMemory::used(uint64_t base, WorkId by) {
  const auto found = blocks_.find(base);
  if (found == blocks_.end()) return;
  Block& block = found->second;
  if (block.freed) {
    if (before(block.freed, by)) return tell("freed-in-stream", base, block.freed, "free", by, "use");
    if (!before(by, block.freed)) return tell("free-unordered", base, by, "use", block.freed, "free");
    return;
  }
  if (!before(block.given, by)) tell("allocation-unordered", base, block.given, "allocation", by, "use");
  std::erase_if(block.users, [&](WorkId user) { return before(user, by); });
  block.users.push_back(by);
}

bool StreamMemory::names(WorkId work) const {
  for (const auto& [base, block] : blocks_)
    if (std::find(block.users.begin(), block.users.end(), work) != block.users.end()) return true;
  return false;
}

}  // namespace gpu::check
