// Launches that need not run again. Benchmarks launch one kernel a thousand times with the same
// arguments. A launch is known by its packet and arguments, and by the contents of all memory it
// touches (footprint.h).
// - A kernel that reads nothing of what it writes is idempotent: while those contents are as it left
//   them, running it changes nothing.
// - One that works in place or with atomics does the same from the same contents: when they come back
//   (the loop clears a counter, or copies the input anew), so does the result that was kept.
#pragma once

#include <list>

#include "content_hash.h"
#include "launch.h"

namespace gpu {

// A value as part of a key.
template <class T>
void append(std::vector<uint8_t>& key, const T& value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  key.insert(key.end(), bytes, bytes + sizeof value);
}

class Repeats {
 public:
  Repeats();

  enum class Plan : uint8_t { Run, Watch, Skip };
  // What to do with a launch that is about to begin. Where it may not be skipped, one that would be
  // is run, and what is known of it stays.
  Plan plan(const Launch& launch, bool may_skip = true);
  // A watched launch is over.
  void watched(const Launch& launch, const DispatchResult& result);

  static std::vector<uint8_t> key_of(const Launch& launch);

 private:
  using Hash = ContentHash;
  struct Record {
    std::vector<uint8_t> key;          // packet and arguments
    std::weak_ptr<CodeObject> object;  // a kernel of another object may come to the same address
    enum class State : uint8_t { Seen, Idempotent, Stateful, Hopeless } state = State::Seen;
    std::vector<Range> touched, written;
    Hash contents{};                   // Idempotent: after it; Stateful: before the one that was kept
    std::vector<std::vector<uint8_t>> kept;  // the written ranges after it
    uint64_t outside_writes = 0;       // how many there had been before
    unsigned disappointments = 0;
  };
  static Record::State state_of(Record& record, const Launch& launch, const DispatchResult& result);
  void tell();
  static Hash hash(const std::vector<Range>& ranges);
  std::list<Record>::iterator find(const std::vector<uint8_t>& key);

  bool enabled_;
  std::mutex mutex_;
  std::list<Record> records_;  // the latest first
};

}  // namespace gpu
