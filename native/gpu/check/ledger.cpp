#include "ledger.h"

#include <bit>
#include <optional>

#include "settings.h"
#include "work_side.h"

namespace gpu::check {
namespace {

// Memory that is the runtime's business, or the host's alone, is left out.
bool counts(const Range& range) {
  return range.kind != RangeKind::Kernarg && range.kind != RangeKind::Runtime && range.kind != RangeKind::Hostcall &&
         range.kind != RangeKind::Scratch;
}

const char* why(WorkId a, WorkId b) {
  const int kernels = (launch_of(a) != nullptr) + (launch_of(b) != nullptr);
  return kernels == 2 ? "kernels" : kernels == 1 ? "kernel-and-call" : "calls";
}

std::string kernel_of(WorkId work) {
  const Launch* launch = launch_of(work);
  return launch ? demangle(launch->kernel->name) : "a copy";
}

}  // namespace

Ledger& ledger() {
  static Ledger& all = *new Ledger;  // outlives every thread and static destructor
  return all;
}

void touched_outside(uint64_t at, uint64_t bytes, bool write) {
  if (!work_is_ordered() || !bytes || !memory_in_use()) return;
  const auto memory = memory_in_use()->snapshot();
  const Range* range = memory->find(at);
  if (!range || !counts(*range)) return;
  Accesses accesses;
  accesses.small = bytes <= 8;
  if (stream_memory_in_use()) accesses.blocks.push_back(range->base);
  if (settings()->race) add_run(accesses.runs, at, bytes, write ? Kind::Write : Kind::Read);
  if (doing()) return ledger().touched(doing(), std::move(accesses));
  // The host by itself, at once: what it did is over for whatever it submits.
  const WorkId own = submitted();
  const Doing now(own, nullptr);
  ledger().touched(own, std::move(accesses));
  host_learns();
}

void Ledger::touched(WorkId work, Accesses accesses) {
  if (!work) return;
  std::lock_guard lock(mutex_);
  Accesses& known = open_[work].accesses;
  if (known.runs.empty() && known.blocks.empty()) {
    known = std::move(accesses);
    return;
  }
  for (const Run& run : accesses.runs) {
    if (!known.runs.empty() && known.runs.back().end == run.line && known.runs.back().touch.mask == run.touch.mask &&
        known.runs.back().touch.kind == run.touch.kind)
      known.runs.back().end = run.end;
    else known.runs.push_back(run);
  }
  known.blocks.insert(known.blocks.end(), accesses.blocks.begin(), accesses.blocks.end());
  known.small &= accesses.small;
}

void Ledger::closed(WorkId work) {
  std::lock_guard lock(mutex_);
  open_[work].closed = true;
  go_on();
}

void Ledger::note(std::function<void(Ledger&)> entry) {
  const WorkId at = next_to_submit();
  std::lock_guard lock(mutex_);
  notes_.emplace(at, std::move(entry));
  go_on();
}

void Ledger::forget(uint64_t base, uint64_t size) {
  if (settings()->race) note([=](Ledger& all) { all.history_.forget(base, size); });
}

void Ledger::go_on() {
  for (;;) {
    while (!notes_.empty() && notes_.begin()->first <= next_) {
      const auto entry = std::move(notes_.begin()->second);
      notes_.erase(notes_.begin());
      entry(*this);
    }
    const auto found = open_.find(next_);
    if (found == open_.end() || !found->second.closed) return;
    Accesses accesses = std::move(found->second.accesses);
    open_.erase(found);
    enter(next_++, std::move(accesses));
  }
}

void Ledger::enter(WorkId work, Accesses accesses) {
  judge_open(work);
  for (const uint64_t block : accesses.blocks) stream_memory_.used(block, work);
  if (accesses.runs.empty()) return let_go(work);
  speakers_[work] = {accesses.released, accesses.acquired, accesses.talks_to_host, accesses.tells_atomics,
                     accesses.small};
  std::map<WorkId, std::pair<bool, bool>> known;  // is it before this work, is this one before it
  const auto order = [&](WorkId other) {
    auto found = known.find(other);
    if (found == known.end()) found = known.emplace(other, std::pair{before(other, work), before(work, other)}).first;
    return found->second;
  };
  const auto is_before = [&](WorkId other) { return order(other).first; };

  // Work that is under way at the same time can order itself by atomics, or by copies of single words that
  // atomics of a kernel meet.
  const Speaker own = speakers_[work];
  if (own.released || own.acquired || own.small) {
    for (const Run& run : accesses.runs) {
      if (!atomic(run.touch.kind) && !own.small) continue;
      history_.each(run, [&](const History::Entry& entry, uint64_t, uint64_t) {
        const Speaker& other = speakers_[entry.work];
        const Kind a = entry.touch.kind, b = run.touch.kind;
        if (!(atomic(a) || atomic(b)) || !(atomic(a) || other.small)) return;
        if (order(entry.work).first || order(entry.work).second) return;
        const auto tells = [](const Speaker& one, Kind what, Kind met) {
          return writes(what) && (one.released || (one.small && met == Kind::AtomicRead));
        };
        const bool hears_other = tells(other, a, b) && (own.acquired || own.small);
        const bool tells_other = tells(own, b, a) && (other.acquired || other.small);
        if (hears_other || tells_other) spoke_.emplace(entry.work, work);
      });
    }
  }

  std::map<Places, Meeting> found;
  bool unsaid = false;
  for (const Run& run : accesses.runs) {
    history_.enter(run, work, is_before, [&](const History::Meeting& meeting) {
      const WorkId other = meeting.earlier->work;
      if (order(other).second) return;
      const Kind a = meeting.earlier->touch.kind, b = run.touch.kind;
      const Speaker& theirs = speakers_[other];
      // A word is copied as a whole: that looks at what a kernel counts, or sets a flag for which it waits.
      const auto flag = [](Kind word, Kind met) { return atomic(met) && (!writes(word) || met == Kind::AtomicRead); };
      if ((theirs.small && flag(a, b)) || (own.small && flag(b, a))) return;
      if (launch_of(other) && launch_of(work) && !(theirs.tells_atomics && own.tells_atomics)) {
        unsaid = true;
        return;
      }
      const uint64_t address = meeting.line * Shadow::kLine + uint64_t(std::countr_zero(meeting.bytes));
      const uint64_t bytes = meeting.lines * uint64_t(std::popcount(meeting.bytes));
      const auto [at, fresh] =
          found.try_emplace({place_of(other, &meeting.earlier->touch), place_of(work, &run.touch)},
                            Meeting{other, work, *meeting.earlier, run.touch, address, 0,
                                    meeting.earlier->first == meeting.line, run.line == meeting.line});
      at->second.bytes += bytes;
    });
  }
  if (unsaid)
    findings().not_covered(
        "race: between kernels of streams that nothing orders: on gfx90a an atomic store looks like any other");
  for (const auto& [places, race] : found) {
    const auto speaks = [&](WorkId one) {
      const Speaker& it = speakers_[one];
      return it.released || it.acquired || it.with_host;
    };
    if (speaks(race.first) || speaks(race.then)) unjudged_.emplace_back(places, race);
    else judge(places, race);
  }
  for (const WorkId gone : history_.gone()) {
    if (gone == work) continue;
    if (unjudged_.empty()) speakers_.erase(gone);
    let_go(gone);
  }
}

bool Ledger::spoke(WorkId a, WorkId b) const {
  for (const auto& [first, second] : spoke_)
    for (const auto& [x, y] : {std::pair{first, second}, std::pair{second, first}})
      // With each other, or with what came before or after.
      if ((x == a && (y == b || before(y, b))) || (y == b && before(a, x))) return true;
  return false;
}

void Ledger::judge(const Places& places, const Meeting& race) {
  const auto with_host = [&](WorkId work) {
    const auto found = speakers_.find(work);
    return found != speakers_.end() && found->second.with_host;
  };
  if (with_host(race.first) || with_host(race.then) || spoke(race.first, race.then) || spoke(race.then, race.first)) {
    findings().not_covered("race: " + kernel_of(race.first) + " and " + kernel_of(race.then) +
                           ", which streams do not order and which signal through memory while they run");
    return;
  }
  Counter* const counter = findings().place("work " + places.first + " " + places.second, [&](record::Line& line) {
    line.string("tool", "race").string("kind", "work").string("why", why(race.first, race.then));
    line.number("bytes", race.bytes);
    describe_memory(line, race.address);
    line.open("sides", '[');
    const uint32_t byte = uint32_t(race.address % Shadow::kLine);
    describe(line, race.first, told(race.earlier.touch.kind), &race.earlier.touch, byte, race.earlier_known);
    describe(line, race.then, told(race.now.kind), &race.now, byte, race.now_known);
    line.close(']');
  });
  ++*counter;
}

// Whatever is submitted from now on comes after work that the host knows to be over.
void Ledger::judge_open(WorkId known_by) {
  std::erase_if(unjudged_, [&](const auto& open) {
    const auto& [places, race] = open;
    if (known_by && !(known_at(race.first, known_by) && known_at(race.then, known_by))) return false;
    judge(places, race);
    return true;
  });
}

// Of what nothing is left that could be told.
void Ledger::let_go(WorkId work) {
  for (const auto& [places, race] : unjudged_)
    if (race.first == work || race.then == work) return;
  if (!stream_memory_.names(work)) forget_launch(work);
}

void Ledger::end() {
  std::lock_guard lock(mutex_);
  judge_open(0);
  if (history_.lost())
    findings().not_covered("race: between streams, some memory: more is touched than is kept track of");
  if (!open_.empty()) findings().not_covered("race: work of streams that had not ended when the program did");
}

}  // namespace gpu::check
