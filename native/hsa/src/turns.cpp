#include "turns.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace {

constexpr auto kPatience = std::chrono::seconds(10);

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
  turns().changed.notify_all();
}

uint64_t Lane::submit() {
  std::lock_guard lock(turns().mutex);
  tickets_.push_back(turns().next);
  return turns().next++;
}

void Lane::take_turn(uint64_t ticket) {
  std::unique_lock lock(turns().mutex);
  const auto first = [&] {
    return std::none_of(turns().lanes.begin(), turns().lanes.end(), [&](const Lane* lane) {
      return lane != this && !lane->tickets_.empty() && lane->tickets_.front() < ticket &&
             !(lane->held_ && lane->held_());
    });
  };
  turns().changed.wait_for(lock, kPatience, first);
}

void Lane::done(uint64_t ticket) {
  {
    std::lock_guard lock(turns().mutex);
    std::erase(tickets_, ticket);
  }
  turns().changed.notify_all();
}

void Lane::hold(std::function<bool()> held) {
  {
    std::lock_guard lock(turns().mutex);
    held_ = std::move(held);
  }
  turns().changed.notify_all();
}
