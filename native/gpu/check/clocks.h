// What each wave knows of the others: which of their accesses happened before what it does now.
//
// Waves of one workgroup know each other by a vector of clocks. Of other workgroups a wave knows only what
// it acquired: a list that few waves have at all, shared between those that have the same.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "shadow.h"

namespace gpu::check {

// (workgroup and wave, clock), sorted.
using Known = std::vector<std::pair<uint64_t, uint32_t>>;
using Knowledge = std::shared_ptr<const Known>;

constexpr uint64_t key_of(uint32_t group, uint8_t wave) { return uint64_t{group} << 8 | wave; }
Knowledge join(const Knowledge& a, const Knowledge& b);
uint32_t clock_in(const Knowledge& known, uint64_t key);  // 0: nothing is known

class GroupClocks {
 public:
  void begin(uint32_t group, uint32_t waves);

  uint32_t clock(uint8_t wave) const { return known(wave, wave); }
  uint32_t group() const { return group_; }
  bool ordered(uint8_t wave, const Touch& earlier) const;

  void at_barrier(uint8_t wave) { waves_[wave].waits = true; }
  // The wave goes on: if it was at a barrier, that has been passed by all.
  void goes_on(uint8_t wave);

  void release(uint8_t wave);  // a fence at the device's scope: what it knows now may be published
  void acquire(uint8_t wave);  // one that makes what it has read so far count
  const Knowledge& released(uint8_t wave) const { return waves_[wave].released; }
  void read(uint8_t wave, const Knowledge& published);  // counts with the next acquire
  // An atomic came after one of another wave of this workgroup. If it `returns` what was there, the wave
  // knows; else only those know that come after it.
  void meet(uint8_t wave, uint8_t other, uint32_t clock, bool returns);

 private:
  struct State {
    Knowledge foreign, released, pending;
    bool waits = false;
  };
  uint32_t& carried(uint32_t wave, uint32_t of) { return carried_[wave * waves_.size() + of]; }
  uint32_t& known(uint32_t wave, uint32_t of) { return known_[wave * waves_.size() + of]; }
  uint32_t known(uint32_t wave, uint32_t of) const { return known_[wave * waves_.size() + of]; }

  uint32_t group_ = 0;
  std::vector<State> waves_;
  std::vector<uint32_t> known_;    // a row of clocks per wave
  std::vector<uint32_t> carried_;  // what it hands on without knowing it
};

}  // namespace gpu::check
