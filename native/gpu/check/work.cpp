#include "work.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>

#include "launch.h"
#include "ledger.h"
#include "settings.h"

namespace gpu::check {
namespace {

struct Work {
  Clock known;
  uint32_t lane = 0, place = 0;  // place 0: it has not begun
  const std::pair<const HostStack, uint32_t>* stack = nullptr;
  std::shared_ptr<const Launch> launch;
  Clock host;  // what was known when it was submitted
};

bool covers(const Clock& known, const Work& work) {
  return work.place && known && work.lane < known->size() && (*known)[work.lane] >= work.place;
}

class Order {
 public:
  std::mutex mutex;
  std::deque<Work> all{1};
  std::map<HostStack, uint32_t> stacks;  // each once, with a number
  std::unordered_map<uint64_t, Clock> signals;
  Clock host;
  std::vector<uint32_t> ends;  // of each lane, how many pieces have begun

  // A lane whose last piece is over by then, or a new one.
  void begin(Work& work) {
    if (work.place) return;
    Progress known = work.known ? *work.known : Progress{};
    known.resize(ends.size());
    size_t lane = 0;
    while (lane < ends.size() && ends[lane] > known[lane]) ++lane;
    if (lane == ends.size()) ends.push_back(0), known.push_back(0);
    work.lane = uint32_t(lane);
    work.place = known[lane] = ++ends[lane];
    work.known = std::make_shared<const Progress>(std::move(known));
  }
};

Order& order() {
  static Order& all = *new Order;  // outlives every thread and static destructor
  return all;
}

thread_local WorkId t_doing = 0, t_last = 0;

}  // namespace

Clock both(const Clock& a, const Clock& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  const Progress &x = *a, &y = *b;
  const auto covers = [](const Progress& more, const Progress& less) {
    for (size_t i = 0; i < less.size(); ++i)
      if (less[i] > (i < more.size() ? more[i] : 0)) return false;
    return true;
  };
  if (covers(x, y)) return a;
  if (covers(y, x)) return b;
  Progress out(std::max(x.size(), y.size()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::max(i < x.size() ? x[i] : 0, i < y.size() ? y[i] : 0);
  return std::make_shared<const Progress>(std::move(out));
}

bool work_is_ordered() {
  static const bool wanted = settings() && (settings()->race || settings()->memory);
  return wanted;
}

Clock host_clock() {
  if (!work_is_ordered()) return nullptr;
  std::lock_guard lock(order().mutex);
  return t_doing ? order().all[t_doing].known : order().host;
}

WorkId submitted() {
  if (!work_is_ordered()) return 0;
  const HostStack here = HostStack::here();
  std::lock_guard lock(order().mutex);
  const auto* stack = &*order().stacks.emplace(here, uint32_t(order().stacks.size())).first;
  const Clock& known = t_doing ? order().all[t_doing].known : order().host;
  order().all.push_back({known, 0, 0, stack, nullptr, known});
  t_last = WorkId(order().all.size() - 1);
  return t_last;
}

WorkId last_submitted() { return t_last; }

WorkId next_to_submit() {
  std::lock_guard lock(order().mutex);
  return WorkId(order().all.size());
}

void saw(uint64_t signal) {
  if (!work_is_ordered()) return;
  std::lock_guard lock(order().mutex);
  const auto found = order().signals.find(signal);
  if (found == order().signals.end()) return;
  Clock& mine = t_doing ? order().all[t_doing].known : order().host;
  mine = both(mine, found->second);
}

void set(uint64_t signal, bool anew) {
  if (!work_is_ordered()) return;
  std::lock_guard lock(order().mutex);
  if (t_doing) order().begin(order().all[t_doing]);
  const Clock& mine = t_doing ? order().all[t_doing].known : order().host;
  Clock& its = order().signals[signal];
  its = anew ? mine : both(its, mine);
}

void host_learns() {
  if (!t_doing) return;
  std::lock_guard lock(order().mutex);
  order().begin(order().all[t_doing]);
  order().host = both(order().host, order().all[t_doing].known);
}

void learns_all() {
  if (!t_doing) return;
  std::lock_guard lock(order().mutex);
  Work& work = order().all[t_doing];
  work.known = both(both(work.known, order().host), std::make_shared<const Progress>(order().ends));
}

Doing::Doing(WorkId work, const Clock& after) : outer_(t_doing) {
  t_doing = work;
  if (!work) return;
  std::lock_guard lock(order().mutex);
  Work& begun = order().all[work];
  begun.known = both(begun.known, after);
  order().begin(begun);
}

Doing::~Doing() {
  const WorkId ended = t_doing;
  t_doing = outer_;
  if (ended) ledger().closed(ended);
}

void take(WorkId work) { t_doing = work; }

void is_over() {
  if (!t_doing) return;
  {
    std::lock_guard lock(order().mutex);
    order().begin(order().all[t_doing]);
  }
  ledger().closed(t_doing);
}

WorkId doing() { return t_doing; }

Clock clock_of(WorkId work) {
  if (!work) return nullptr;
  std::lock_guard lock(order().mutex);
  return order().all[work].known;
}

Clock signal_clock(uint64_t signal) {
  std::lock_guard lock(order().mutex);
  const auto found = order().signals.find(signal);
  return found == order().signals.end() ? nullptr : found->second;
}

void ends_with(uint64_t signal, const Clock& known) {
  if (!signal || !known) return;
  std::lock_guard lock(order().mutex);
  Clock& its = order().signals[signal];
  its = both(its, known);
}

bool before(WorkId a, WorkId b) {
  std::lock_guard lock(order().mutex);
  return a != b && covers(order().all[b].known, order().all[a]);
}

bool known_at(WorkId a, WorkId b) {
  std::lock_guard lock(order().mutex);
  return a != b && covers(order().all[b].host, order().all[a]);
}

const HostStack& stack_of(WorkId work) {
  std::lock_guard lock(order().mutex);
  return order().all[work].stack->first;
}

uint32_t call_number(WorkId work) {
  std::lock_guard lock(order().mutex);
  return order().all[work].stack->second;
}

void is_launch(WorkId work, const Launch& launch) {
  if (!work) return;
  auto kept = std::make_shared<Launch>(launch);
  kept->memory.reset();
  kept->footprint.reset();
  kept->clocks.reset();
  kept->request.gets_nowhere = nullptr;
  std::lock_guard lock(order().mutex);
  order().all[work].launch = std::move(kept);
}

const Launch* launch_of(WorkId work) {
  std::lock_guard lock(order().mutex);
  return order().all[work].launch.get();
}

void forget_launch(WorkId work) {
  std::lock_guard lock(order().mutex);
  order().all[work].launch.reset();
}

}  // namespace gpu::check
