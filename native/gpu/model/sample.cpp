#include "sample.h"

#include <algorithm>
#include <cmath>

namespace gpu {
namespace {

constexpr uint64_t kWindows = 8;       // made at first; between half of them and all stay
constexpr uint64_t kParts = 4096;      // of a dispatch whose instructions are kept apart
constexpr double kWarmUp = 0.5;        // of a window: caches still hold what another window left
constexpr size_t kFewest = 8;          // workgroups that say something of their window
constexpr double kLong = 2;            // times the usual wave: it may outlast the rest
// What one XCD standing for all, and windows beside chance, cost: found by benchmarks/sampling_error.py.
constexpr double kXccError = 0.03, kWindowError = 0.03;

// What one window says of the stretch of the dispatch that it stands for.
struct Stratum {
  double life = 0, steps = 0;         // of its measured workgroups: cycles they lived, instructions
  double squares = 0;                 // of what single workgroups lie beside the window's mean
  size_t count = 0;
  double all_steps = 0, simulated_steps = 0;
  double simulated_life = 0;
  double rate() const { return steps > 0 ? life / steps : 0; }
  double left() const { return all_steps > 0 ? 1 - std::min(1.0, simulated_steps / all_steps) : 0; }
};

std::vector<Stratum> strata_of(const std::vector<Sampled>& groups, const Windows& windows, const Executed& executed) {
  std::vector<Stratum> strata;
  for (size_t first = 0, last = 0; first < groups.size(); first = last) {
    const uint64_t window = windows.window(groups[first].place);
    for (last = first; last < groups.size() && windows.window(groups[last].place) == window;) ++last;
    Stratum s;
    size_t from = first + size_t(double(last - first) * kWarmUp);
    if (last - from < kFewest) from = first;
    for (size_t i = first; i < last; ++i) {
      s.simulated_steps += double(groups[i].steps);
      s.simulated_life += double(groups[i].ended - groups[i].begun);
    }
    for (size_t i = from; i < last; ++i, ++s.count) {
      s.life += double(groups[i].ended - groups[i].begun);
      s.steps += double(groups[i].steps);
    }
    for (size_t i = from; i < last; ++i) {
      const double beside = double(groups[i].ended - groups[i].begun) - s.rate() * double(groups[i].steps);
      s.squares += beside * beside;
    }
    const uint64_t until = last < groups.size() ? groups[last].place : executed.places();
    s.all_steps = double(executed.steps(first ? groups[first].place : 0, until));
    strata.push_back(s);
  }
  return strata;
}

// Variance of the lives of all workgroups together. Within a window workgroups are taken as drawn by
// chance; between windows the differences of neighbours count, which a trend only makes larger.
double variance_of(const std::vector<Stratum>& strata, bool other_xccs) {
  double steps = 0;
  for (size_t i = 1; i < strata.size(); ++i) steps += std::pow(strata[i].rate() - strata[i - 1].rate(), 2);
  const double between = strata.size() > 1 ? steps / (2 * double(strata.size() - 1)) : 0;
  double variance = 0;
  for (const Stratum& s : strata) {
    const double left = other_xccs ? 1 : s.left();
    const double many = double(s.count);
    const double within = s.count > 1 && s.steps > 0 ? s.squares * many / (many - 1) / (s.steps * s.steps) : 0;
    variance += s.all_steps * s.all_steps * (left * within + s.left() * between);
  }
  return variance;
}

}  // namespace

void Windows::thin(uint64_t place) {
  if (whole()) {
    first_ = place / 2;
    length_ = std::max<uint64_t>(1, (place + kWindows - 1) / kWindows);
  }
  if (stride_ < uint64_t{1} << 32) stride_ *= 2;
}

void Executed::add(uint64_t place, uint64_t steps, uint64_t longest_wave, uint64_t accesses) {
  total_ += steps;
  longest_ = std::max(longest_, longest_wave);
  places_ = std::max(places_, place + 1);
  while (place / part_length_ >= kParts) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const uint64_t moved = parts_[i];
      parts_[i] = 0;
      parts_[i / 2] += moved;
    }
    parts_.resize((parts_.size() + 1) / 2);
    part_length_ *= 2;
  }
  if (parts_.size() <= place / part_length_) parts_.resize(place / part_length_ + 1);
  parts_[place / part_length_] += steps;
  const size_t size = size_t(4 * std::log2(double(longest_wave + 1)));
  if (last_.size() <= size) last_.resize(size + 1);
  Last& last = last_[size];
  last = {std::max(last.place, place), std::max(last.steps, longest_wave), std::max(last.accesses, accesses)};
}

uint64_t Executed::steps(uint64_t from, uint64_t to) const {
  // A part that lies on both sides of a border is divided by its length.
  auto up_to = [&](uint64_t place) {
    double sum = 0;
    const uint64_t whole = std::min<uint64_t>(place / part_length_, parts_.size());
    for (uint64_t i = 0; i < whole; ++i) sum += double(parts_[i]);
    if (whole < parts_.size()) {
      const uint64_t length = std::min(part_length_, places_ - whole * part_length_);
      const double inside = double(std::min(place - whole * part_length_, length));
      sum += double(parts_[whole]) * inside / double(length);
    }
    return sum;
  };
  return uint64_t(std::llround(up_to(to) - up_to(from)));
}

double Executed::longest_end(double span, double cycles, double wait, double usual) const {
  double latest = 0;
  for (const Last& last : last_)
    if (last.steps && double(last.steps) > usual)
      latest = std::max(latest, span * double(last.place) / double(places_) + cycles * double(last.steps) +
                                    wait * double(last.accesses));
  return latest;
}

Estimate estimate(const std::vector<Sampled>& groups, const Windows& windows, const Executed& executed,
                  const SimulatedPart& part) {
  double life = 0, in_tail = 0, steps = 0;
  for (const Sampled& g : groups) {
    life += double(g.ended - g.begun);
    steps += double(g.steps);
    in_tail += std::max(0.0, double(g.ended) - std::max(double(g.begun), part.exhausted));
  }
  if (groups.empty() || life <= 0) return {part.end, 0, part.exhausted};
  const std::vector<Stratum> strata = strata_of(groups, windows, executed);
  const double error = std::sqrt(variance_of(strata, part.other_xccs)) * part.share;
  // A stratum's time is that of its window, the part of it that was simulated, scaled to all its steps. Not
  // so the first: its window begins as the dispatch itself does, once, with the caches as they were left
  // and all workgroups starting together. So what was simulated there counts as it is, and only what the
  // stratum has beyond its window is scaled.
  double all = 0;
  for (const Stratum& s : strata) {
    const double steps_here = s.all_steps * part.share;
    if (&s != &strata.front()) all += steps_here * s.rate();
    else all += s.simulated_life + std::max(0.0, steps_here - s.simulated_steps) * s.rate();
  }
  // While workgroups are being started there are as many at a time as fit: the time that takes grows
  // with how long they live, what follows the last start does not.
  const bool long_body = life - in_tail > life / 2;
  const double body = long_body ? part.exhausted : part.end, tail = long_body ? part.end - part.exhausted : 0;
  const double stretch = body / (long_body ? life - in_tail : life);
  const bool everything = steps >= double(executed.total());
  const double grown = everything ? body : std::max(body, stretch * (all - (long_body ? in_tail : 0)));
  const double of_kind = (part.other_xccs ? kXccError : 0) + (windows.whole() ? 0 : kWindowError);
  return {grown + tail, std::hypot(error * stretch, of_kind * (grown + tail)),
          part.exhausted * grown / std::max(1.0, body)};
}

void outlast(Estimate& whole, const Executed& executed, const SimulatedPart& part) {
  const double steps = double(std::max<uint64_t>(1, part.wave_steps));
  const double busy = (part.wave_cycles - part.data_wait_cycles - part.turn_wait_cycles) / steps;
  const double wait = part.data_wait_cycles / double(std::max<uint64_t>(1, part.accesses));
  const double usual = kLong * steps / double(std::max<uint64_t>(1, part.waves));
  const double busy_end = executed.longest_end(whole.started, busy, 0, 0);
  const double end = std::max(busy_end, executed.longest_end(whole.started, busy, wait, usual));
  if (end <= whole.cycles) return;
  // It may wait as the others do for an instruction instead, or half as long.
  const double as_others = executed.longest_end(whole.started, part.wave_cycles / steps, 0, 0);
  whole.error = std::max({whole.error, std::abs(as_others - end), (end - busy_end) / 2});
  whole.cycles = end;
}

}  // namespace gpu
