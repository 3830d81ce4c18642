#include "clocks.h"

#include <algorithm>

namespace gpu::check {

Knowledge join(const Knowledge& a, const Knowledge& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto out = std::make_shared<Known>();
  out->reserve(a->size() + b->size());
  auto x = a->begin(), y = b->begin();
  while (x != a->end() || y != b->end()) {
    if (y == b->end() || (x != a->end() && x->first < y->first)) out->push_back(*x++);
    else if (x == a->end() || y->first < x->first) out->push_back(*y++);
    else out->emplace_back(x->first, std::max(x->second, y->second)), ++x, ++y;
  }
  // Often one of them knows all: then nothing new need be kept.
  if (*out == *a) return a;
  if (*out == *b) return b;
  return out;
}

uint32_t clock_in(const Knowledge& known, uint64_t key) {
  if (!known) return 0;
  const auto found = std::lower_bound(known->begin(), known->end(), std::pair{key, uint32_t{0}});
  return found != known->end() && found->first == key ? found->second : 0;
}

void GroupClocks::begin(uint32_t group, uint32_t waves) {
  group_ = group;
  waves_.assign(waves, {});
  known_.assign(size_t{waves} * waves, 0);
  carried_.assign(size_t{waves} * waves, 0);
  for (uint32_t i = 0; i < waves; ++i) known(i, i) = 1;
}

bool GroupClocks::ordered(uint8_t wave, const Touch& earlier) const {
  if (earlier.group == group_) return earlier.clock <= known(wave, earlier.wave);
  return earlier.clock <= clock_in(waves_[wave].foreign, key_of(earlier.group, earlier.wave));
}

// Waves that have ended are not waited for: they came before, too. What some wave released or has read of
// others counts for all that passed the barrier with it, as it does on the device.
void GroupClocks::goes_on(uint8_t resumed) {
  if (!waves_[resumed].waits) return;
  std::vector<uint32_t> all(waves_.size());
  State sum;
  for (uint32_t wave = 0; wave < waves_.size(); ++wave) {
    for (uint32_t of = 0; of < waves_.size(); ++of) all[of] = std::max(all[of], known(wave, of));
    sum.foreign = join(sum.foreign, waves_[wave].foreign);
    sum.released = join(sum.released, waves_[wave].released);
    sum.pending = join(sum.pending, waves_[wave].pending);
  }
  for (uint32_t wave = 0; wave < waves_.size(); ++wave) {
    if (!waves_[wave].waits) continue;
    std::copy(all.begin(), all.end(), &known(wave, 0));
    waves_[wave] = sum;
    ++known(wave, wave);
  }
}

void GroupClocks::release(uint8_t wave) {
  auto own = std::make_shared<Known>();
  for (uint32_t of = 0; of < waves_.size(); ++of)
    if (const uint32_t clock = known(wave, of)) own->emplace_back(key_of(group_, uint8_t(of)), clock);
  State& state = waves_[wave];
  state.released = join(join(state.released, state.foreign), own);
  ++known(wave, wave);  // what it does from now on is later
}

void GroupClocks::acquire(uint8_t wave) {
  State& state = waves_[wave];
  if (!state.pending) return;
  state.foreign = join(state.foreign, state.pending);
  // By way of another workgroup a wave may learn of one of its own.
  for (uint32_t of = 0; of < waves_.size(); ++of)
    known(wave, of) = std::max(known(wave, of), clock_in(state.pending, key_of(group_, uint8_t(of))));
  state.pending.reset();
}

void GroupClocks::read(uint8_t wave, const Knowledge& published) {
  waves_[wave].pending = join(waves_[wave].pending, published);
}

// Of the other wave's knowledge all is taken that it has by now: at most more than it had then, so that
// an order may be seen where there is none, never the reverse.
void GroupClocks::meet(uint8_t wave, uint8_t other, uint32_t clock, bool returns) {
  if (wave == other) return;
  // What the other does from now on is later than what was met.
  if (known(other, other) == clock) ++known(other, other);
  for (uint32_t of = 0; of < waves_.size(); ++of) {
    uint32_t& mine = returns ? known(wave, of) : carried(wave, of);
    mine = std::max(mine, of == other ? clock : std::max(known(other, of), carried(other, of)));
  }
  if (returns) waves_[wave].foreign = join(waves_[wave].foreign, waves_[other].foreign);
}

}  // namespace gpu::check
