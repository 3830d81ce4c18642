#include "turns.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "signals.h"

namespace {

struct Turns {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Lane*> lanes;
  uint64_t next = 1;
};
Turns& turns() {
  static auto* all = new Turns;
  return *all;
}
void tell() {
  turns().changed.notify_all();
  wake_watchers();
}

}  // namespace

Lane::Lane() {
  std::lock_guard lock(turns().mutex);
  turns().lanes.push_back(this);
}

Lane::~Lane() {
  {
    std::lock_guard lock(turns().mutex);
    std::erase(turns().lanes, this);
  }
  tell();
}

uint64_t Lane::submit() {
  std::lock_guard lock(turns().mutex);
  if (!closed_) tickets_.push_back(turns().next);
  return turns().next++;
}

bool Lane::first(uint64_t ticket) const {
  return std::none_of(turns().lanes.begin(), turns().lanes.end(), [&](const Lane* lane) {
    return lane != this && !lane->tickets_.empty() && lane->tickets_.front() < ticket &&
           !(lane->held_ && lane->held_());
  });
}

bool Lane::has_turn(uint64_t ticket) const {
  std::lock_guard lock(turns().mutex);
  return first(ticket);
}

void Lane::take_turn(uint64_t ticket) {
  std::unique_lock lock(turns().mutex);
  turns().changed.wait(lock, [&] { return first(ticket); });
}

void Lane::done(uint64_t ticket) {
  {
    std::lock_guard lock(turns().mutex);
    std::erase(tickets_, ticket);
  }
  tell();
}

void Lane::hold(std::function<bool()> held) {
  {
    std::lock_guard lock(turns().mutex);
    held_ = std::move(held);
  }
  tell();
}

void Lane::close() {
  {
    std::lock_guard lock(turns().mutex);
    tickets_.clear();
    closed_ = true;
  }
  tell();
}
