#include "dispatch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "check/barriers.h"
#include "check/faults.h"
#include "check/hazards.h"
#include "check/init.h"
#include "check/ledger.h"
#include "check/race.h"
#include "check/reached.h"
#include "check/settings.h"
#include "check/several.h"
#include "check/stream_memory.h"
#include "fault_text.h"
#include "progress.h"

namespace gpu {
namespace {

unsigned threads_from_environment() {
  if (const char* text = std::getenv("ROCM_PERF_VIRTUAL_THREADS")) {
    const long value = std::strtol(text, nullptr, 10);
    if (value >= 1 && value <= 1024) return unsigned(value);
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

struct Dispatcher::Active {
  struct Span {
    uint64_t begin, end;
  };
  Active(const Launch& the_launch, GroupWatcher* told, uint64_t the_seed, uint64_t most)
      : launch(the_launch),
        watcher(told),
        seed(the_seed),
        resident_limit(most),
        progress(the_launch.kernel->name, the_launch.group_count) {}

  const Launch& launch;
  translate::Kernel* tier = nullptr;  // where it may be translated
  GroupWatcher* const watcher;        // told of every workgroup, where set
  const uint64_t seed;               // of another interleaving of workgroups; 0: as they come
  // On one thread workgroups are begun in order and go on in turn, so that all that is measured of them is
  // the same whatever the host. Even contexts are then the dispatch's own: where their scratch memory lies
  // must not depend on what ran before.
  const bool one_thread = watcher || seed;
  std::vector<Span> fresh{{0, launch.group_count}};  // workgroups not started yet, the lowest span last
  uint64_t chunk = 1;                                // how many a thread takes at once
  unsigned running = 0;                              // threads inside a workgroup of this dispatch
  uint64_t resident = 0, resident_limit;
  uint64_t turns = 0;                                // since a workgroup ended
  std::deque<std::unique_ptr<WorkgroupContext>> suspended;
  std::vector<std::unique_ptr<WorkgroupContext>> spare;  // with one thread
  std::atomic<bool> cancelled{false};
  std::condition_variable done;
  DispatchResult result;
  Progress progress;

  // Interleaved workgroups are few at a time. Those that wait for one that has not begun get nowhere: the
  // longer none ends, the more are begun.
  uint64_t limit() const {
    constexpr uint64_t kInFlight = 16, kPatience = 4096;
    return seed ? std::min(resident_limit, kInFlight + turns / kPatience) : resident_limit;
  }
  // Who watches is told of workgroups in order.
  uint64_t index(uint64_t place) const {
    return watcher ? place : Interleaving::group(seed, place, launch.group_count);
  }
  bool can_start() const { return !fresh.empty() && resident < limit(); }
  bool has_work() const { return !cancelled && (can_start() || !suspended.empty()); }
  bool complete() const { return running == 0 && (cancelled || (fresh.empty() && suspended.empty())); }
  Span take() {
    Span& lowest = fresh.back();
    const Span out{lowest.begin, std::min(lowest.end, lowest.begin + chunk)};
    lowest.begin = out.end;
    if (lowest.begin == lowest.end) fresh.pop_back();
    return out;
  }
  void give_back(Span span) {
    if (span.begin == span.end) return;
    fresh.push_back(span);
    std::sort(fresh.begin(), fresh.end(), [](const Span& a, const Span& b) { return a.begin > b.begin; });
  }
};

namespace {

void add(DispatchResult& total, const WorkgroupContext& group) {
  for (uint32_t i = 0; i < group.shape.waves(); ++i) {
    const Wave& wave = *group.waves[i];
    total.wave_instructions += wave.executed;
    for (size_t c = 0; c < total.counts.size(); ++c) total.counts[c] += wave.counts[c];
  }
  total.waves += group.shape.waves();
  total.workgroups += 1;
}

void add(DispatchResult& total, const DispatchResult& part) {
  total.wave_instructions += part.wave_instructions;
  total.waves += part.waves;
  total.workgroups += part.workgroups;
  for (size_t c = 0; c < total.counts.size(); ++c) total.counts[c] += part.counts[c];
}

std::string name_of(const Launch& launch) {
  const std::vector<uint8_t> key = Repeats::key_of(launch);
  return {key.begin(), key.end()};
}

FaultReport report_of(const Launch& launch, WorkgroupContext& group, const AddressSpace& memory) {
  Wave& wave = *group.waves[group.faulted_wave];
  if (wave.fault.kind == FaultKind::Unmapped && memory.nearest(wave.fault.address).freed)
    wave.fault.kind = FaultKind::Freed;
  FaultReport report;
  report.fault = wave.fault;
  report.kernel = launch.kernel->name;
  std::copy_n(group.shape.id, 3, report.workgroup);
  if (check::settings()) check::fault(launch, group.index, group.faulted_wave, wave.fault, memory, true);
  report.text = tell_fault(launch, group.shape, group.faulted_wave, wave, memory);
  return report;
}

}  // namespace

Dispatcher::Dispatcher(const DeviceSpec& device, AddressSpace& memory)
    : device_(device),
      memory_(memory),
      limits_(limits_from_environment()),
      outside_(memory, limits_.bounds),
      scratch_(memory),
      state_(device),
      wanted_threads_(threads_from_environment()) {}

Dispatcher::~Dispatcher() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::vector<std::unique_ptr<WorkgroupContext>>& Dispatcher::spare(Active& active) {
  return active.one_thread ? active.spare : spare_;
}

std::unique_ptr<WorkgroupContext> Dispatcher::context(Active& active) {
  auto& unused = spare(active);
  if (unused.empty()) return std::make_unique<WorkgroupContext>(scratch_);
  auto out = std::move(unused.back());
  unused.pop_back();
  return out;
}

// Takes some workgroups of the dispatch as far as they go. The lock is released while they run.
bool Dispatcher::step(Active& active, std::unique_lock<std::mutex>& lock) {
  using Result = WorkgroupContext::Result;
  if (!active.has_work()) return false;
  // New workgroups first: a grid barrier is only passed when all are there.
  const bool starting = active.can_start();
  Active::Span span{0, 0};
  std::unique_ptr<WorkgroupContext> group;
  if (starting) {
    span = active.take();
    group = context(active);
    ++active.resident;
  } else {
    group = std::move(active.suspended.front());
    active.suspended.pop_front();
  }
  ++active.running;
  const bool alone = !active.has_work();
  lock.unlock();

  Result result = Result::Finished;
  bool no_scratch = false;
  DispatchResult part;
  uint64_t ran = 0;
  FaultReport fault;
  do {
    if (starting) {
      if (!group->start(active.launch, limits_, device_, active.index(span.begin), outside())) {
        no_scratch = true;
        break;
      }
      ++span.begin;
      group->observer = active.watcher ? active.watcher->begin(*group) : nullptr;
    }
    result = group->run(active.launch, limits_, memory_, active.cancelled);
    tiers_.ran(active.tier, group->used);
    ran += group->used;
    if (result != Result::Yielded) add(part, *group);
    if (result == Result::Finished && active.watcher) active.watcher->finished(*group);
  } while (starting && result == Result::Finished && span.begin < span.end);
  if (result == Result::Faulted) fault = report_of(active.launch, *group, memory_);
  const bool waited_for_host = result == Result::Yielded && group->at_host;
  if (waited_for_host && alone) std::this_thread::sleep_for(std::chrono::microseconds(50));
  else if (waited_for_host || (result == Result::Yielded && alone)) std::this_thread::yield();

  lock.lock();
  --active.running;
  add(active.result, part);
  active.progress.reached(active.result.workgroups, ran);
  if (part.workgroups) active.turns = 0;
  else if (!waited_for_host) ++active.turns;
  // Counted in rounds without an end, so that it is the same on every run.
  constexpr uint64_t kNowhere = 64;
  const auto& gets_nowhere = active.launch.request.gets_nowhere;
  if (gets_nowhere && active.turns == kNowhere * (active.suspended.size() + 1)) gets_nowhere();
  if (starting) active.give_back(span);
  if (result == Result::Yielded) {
    active.suspended.push_back(std::move(group));
  } else {
    --active.resident;
    spare(active).push_back(std::move(group));
  }
  if (no_scratch) {
    // A workgroup that ends will give its scratch back; with none resident there is too little.
    active.resident_limit = std::max<uint64_t>(1, active.resident);
    if (active.resident == 0) {
      fault.text = "rocm-perf: no scratch memory for kernel " + demangle(active.launch.kernel->name) + ": " +
                   std::to_string(active.launch.private_bytes) + " bytes per work-item\n";
      active.result.refused = true;
    }
  }
  if (!fault.text.empty() && !active.cancelled) {
    active.cancelled = true;
    active.result.ok = false;
    active.result.fault = std::move(fault);
  }
  if (active.complete()) active.done.notify_all();
  else if (!active.one_thread && active.has_work()) wake_.notify_one();
  return true;
}

void Dispatcher::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    // Round robin over the dispatches, so that one waiting for another cannot starve it.
    Active* found = nullptr;
    for (size_t i = 0; i < active_.size() && !found; ++i) {
      Active* candidate = active_.front();
      active_.pop_front();
      active_.push_back(candidate);
      if (candidate->has_work()) found = candidate;
    }
    if (found) step(*found, lock);
    else wake_.wait(lock);
  }
}

// A kernel that reads the clock runs once to find out when it does so, and again, from the same
// memory, to see those times. Where they lead it elsewhere (it waits for a time to come), that is
// done again with the times of the last course.
DispatchResult Dispatcher::run_profiled(Launch launch, const ProfileRequest& request, DispatchProfile& profile) {
  constexpr int kCourses = 6;
  std::lock_guard serial(state_.mutex);
  hear_of_streamed();
  uint64_t last_instructions = 0;
  for (int course = 0;; ++course) {
    const bool clocked = launch.program->reads_clock() && course < kCourses;
    if (clocked) launch.footprint = std::make_shared<Footprint>(launch.memory, true);
    else if (course) launch.footprint.reset();
    DispatchRecorder recorder(device_, state_, launch, request);
    DispatchResult result = run_all(launch, &recorder);
    if (!result.ok) return result;
    const bool same = course && result.wave_instructions == last_instructions;
    try {
      if (!same) profile = recorder.profile(wanted_threads_);
    } catch (const ImpossibleTime& impossible) {
      result.ok = false;
      result.fault.kernel = launch.kernel->name;
      result.fault.text = impossible.what();
      return result;
    }
    result.duration_ns = profile.duration_ns;
    result.compute_units = profile.compute_units_used;
    if (same || !clocked || !result.counts[size_t(InstClass::SMEM_TIME)] || !launch.footprint->undo()) return result;
    last_instructions = result.wave_instructions;
    launch.clocks = std::make_shared<ClockTimes>(recorder.clock_times(profile));
  }
}

DispatchResult Dispatcher::run_timed(Launch launch, const ProfileRequest& request, DispatchProfile& profile) {
  launch.request.timed = true;  // it costs a simulation
  Durations::Key key = Repeats::key_of(launch);
  if (request.att) {  // what is kept of waves is large, and few are asked for
    const DispatchResult result = run_profiled(launch, request, profile);
    durations_.ran(key);
    return result;
  }
  // Another kind of profile is another thing to remember.
  append(key, request.counters);
  append(key, request.only_count);
  append(key, request.only);
  append(key, request.detailed_steps);
  Durations::Known known;
  const bool settled = durations_.settled(key, known);
  // A kernel that reads the clock never repeats itself.
  const Repeats::Plan plan = launch.program->reads_clock() ? Repeats::Plan::Run : repeats_.plan(launch, settled);
  if (plan == Repeats::Plan::Skip) {
    durations_.ran(key);
    profile = std::move(known.profile);
    return known.result;
  }
  if (plan == Repeats::Plan::Watch) launch.footprint = std::make_shared<Footprint>(launch.memory);
  const DispatchResult result = run_profiled(launch, request, profile);
  if (plan == Repeats::Plan::Watch) repeats_.watched(launch, result);
  if (result.ok) durations_.simulated(key, {result, profile});
  return result;
}

// A kernel that looks for what a copy writes is still running when that is done: what comes after it learns
// of the copy.
void Dispatcher::streamed(uint64_t at, uint64_t bytes) {
  durations_.other_traffic(at, bytes);
  {
    std::lock_guard lock(mutex_);
    streamed_.push_back({at, bytes});
  }
  if (std::unique_lock serial(state_.mutex, std::try_to_lock); serial) hear_of_streamed();
}

void Dispatcher::hear_of_streamed() {
  std::unique_lock lock(mutex_);
  const auto heard = std::exchange(streamed_, {});
  lock.unlock();
  for (const auto& [at, bytes] : heard) enter_mall(at, bytes);
}

void Dispatcher::enter_mall(uint64_t at, uint64_t bytes) {
  SampledCache* mall = state_.mall.get();
  if (!mall || !bytes) return;
  const auto memory = memory_.snapshot();
  Addresses& addresses = state_.addresses;
  addresses.learn(*memory);
  const uint64_t begin = addresses.canonical(at, *memory);
  for (uint64_t line = begin / kLineBytes; line <= (begin + bytes - 1) / kLineBytes; ++line) {
    mall->enter(uint32_t(line), 3, 1);
  }
}

void Dispatcher::move(uint64_t at, uint64_t bytes, bool here) {
  std::lock_guard serial(state_.mutex);
  durations_.forget();
  state_.addresses.move(at, bytes, *memory_.snapshot(), here);
}

void Dispatcher::flush_caches() {
  std::lock_guard serial(state_.mutex);
  durations_.other_traffic(0, 0);
  state_.memory.clear();  // they refer to the cache behind them
  state_.units.clear();
  state_.mall.reset();
}

DispatchResult Dispatcher::run(Launch launch) {
  // Whether it uses what streams give out is not known of a launch that does not run.
  const bool streams = check::doing() && check::stream_memory_in_use();
  const Repeats::Plan plan = repeats_.plan(launch, !streams);
  if (plan == Repeats::Plan::Skip) return {};
  if (plan == Repeats::Plan::Watch || streams) launch.footprint = std::make_shared<Footprint>(launch.memory);
  DispatchResult result = run_all(launch, nullptr);
  if (plan == Repeats::Plan::Watch) repeats_.watched(launch, result);
  if (streams) {
    check::Accesses accesses;
    accesses.blocks = blocks_of(launch);
    tell_of(launch, std::move(accesses));
  }
  return result;
}

// A launch that repeats another finds what that has found; but memory that was written then may be another's
// by now. Kernels that are not `wanted` are watched for what they write.
DispatchResult Dispatcher::run_checked(Launch launch, bool wanted) {
  const check::Settings& chosen = *check::settings();
  const bool ordered = check::doing() && wanted, streams = ordered && check::stream_memory_in_use();
  // What a launch touched that is not run again is what it touched the last time.
  const auto before = ordered && chosen.race ? remembered(launch) : nullptr;
  const bool known = !ordered || (!streams && (before || !chosen.race));
  const Repeats::Plan plan = chosen.init ? Repeats::Plan::Run : repeats_.plan(launch, known);
  if (plan == Repeats::Plan::Skip) {
    check::findings().repeated(demangle(launch.kernel->name));
    if (before) tell_of(launch, *before);
    return {};
  }
  if (plan == Repeats::Plan::Watch || streams) launch.footprint = std::make_shared<Footprint>(launch.memory);
  check::LaunchRaces races(launch);
  check::LaunchBarriers barriers;
  check::LaunchInit init(launch, device_, wanted);
  check::LaunchHazards hazards(launch);
  check::Several watchers;
  if (chosen.init) watchers.add(init);
  if (chosen.race && wanted) watchers.add(races);
  if (chosen.sync && wanted) watchers.add(barriers);
  std::optional<check::LaunchReached> reached;
  if (chosen.reached) watchers.add(reached.emplace(launch));
  if (chosen.hazards && wanted) watchers.add(hazards);
  DispatchResult result = run_all(launch, &watchers);
  if (plan == Repeats::Plan::Watch) repeats_.watched(launch, result);
  if (wanted) {
    races.end();
    watchers.tell_of_approximations(launch);
  }
  if (ordered && (chosen.race || streams)) {
    check::Accesses accesses = chosen.race ? races.accesses() : check::Accesses{};
    constexpr size_t kFew = 1 << 16;
    if (streams) accesses.blocks = blocks_of(launch);
    else if (plan == Repeats::Plan::Watch || accesses.runs.size() < kFew) remember(launch, accesses);
    tell_of(launch, std::move(accesses));
  }
  return result;
}

std::vector<uint64_t> Dispatcher::blocks_of(const Launch& launch) {
  std::vector<uint64_t> out;
  for (const Footprint::Touched& touched : launch.footprint->touched()) out.push_back(touched.range.base);
  return out;
}

void Dispatcher::tell_of(const Launch& launch, check::Accesses accesses) {
  check::is_launch(check::doing(), launch);
  check::ledger().touched(check::doing(), std::move(accesses));
}

// As many as Repeats keeps, of the latest: without them a launch runs again.
void Dispatcher::remember(const Launch& launch, const check::Accesses& accesses) {
  constexpr size_t kMost = 64;
  std::lock_guard lock(mutex_);
  if (touched_.size() == kMost) touched_.clear();
  touched_[name_of(launch)] = std::make_shared<const check::Accesses>(accesses);
}

std::shared_ptr<const check::Accesses> Dispatcher::remembered(const Launch& launch) {
  std::lock_guard lock(mutex_);
  const auto found = touched_.find(name_of(launch));
  return found == touched_.end() ? nullptr : found->second;
}

DispatchResult Dispatcher::run_all(const Launch& launch, GroupWatcher* watcher) {
  // As many workgroups at once as the modelled device holds.
  const uint64_t most = uint64_t{launch.groups_per_cu} * device_.compute_units;
  Active active(launch, watcher, limits_.wave_order, most);
  if (!watcher && tiers_.on()) active.tier = tiers_.kernel(*launch.program, launch.entry);
  std::unique_lock lock(mutex_);
  if (!active.one_thread) {
    if (threads_.empty())
      for (unsigned i = 1; i < wanted_threads_; ++i) threads_.emplace_back([this] { work(); });
    active.chunk = std::clamp<uint64_t>(launch.group_count / (uint64_t{wanted_threads_} * 8), 1, 64);
    active_.push_back(&active);
    if (launch.group_count > 1) wake_.notify_all();
  }
  while (!active.complete())
    if (!step(active, lock) && !active.complete())
      active.done.wait(lock, [&] { return active.complete() || active.has_work(); });
  std::erase(active_, &active);
  for (auto& group : active.suspended) spare(active).push_back(std::move(group));
  // Keep what the next launch will want, not the largest grid barrier ever seen.
  constexpr size_t kKeep = 64;
  if (spare_.size() > kKeep) spare_.resize(kKeep);
  return std::move(active.result);
}

}  // namespace gpu
