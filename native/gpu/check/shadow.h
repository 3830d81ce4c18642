// Who touched which bytes: the shadow of LDS and of global memory, exact to the byte.
//
// It is kept by lines of 64 bytes, as a short list of touches with a mask of bytes each: what a wave
// touches in one piece is one entry, not 64. A touch that every later conflict with it would also have
// with a newer one is dropped; of touches that nothing orders and that do not conflict (reads, atomics)
// two of other workgroups and one of its own are enough to find every conflict that barriers do not order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace gpu::check {

enum class Kind : uint8_t { Read, Write, AtomicRead, AtomicWrite };
constexpr bool writes(Kind kind) { return kind == Kind::Write || kind == Kind::AtomicWrite; }
constexpr bool atomic(Kind kind) { return kind == Kind::AtomicRead || kind == Kind::AtomicWrite; }

constexpr uint8_t kNoLane = 0xff;  // more than one, and not in a row

struct Touch {
  uint64_t mask = 0;   // bytes of the line
  uint32_t group = 0;  // workgroup, by its index in the launch
  uint32_t clock = 0;  // of its wave
  uint32_t place = 0;  // instruction: words after the program's start
  uint32_t next = 0;   // of the line's list; 0: none
  uint8_t wave = 0;
  Kind kind = Kind::Read;
  bool compares = false;  // a compare-and-swap
  uint8_t lane = 0, base = 0, size = 4;  // byte `base` is that of `lane`; others follow, `size` bytes each
  bool back = false;                     // towards lower bytes
  bool by(const Touch& other) const { return group == other.group && wave == other.wave; }
  uint32_t lane_at(uint32_t byte) const {
    if (back) return lane + (base + size - 1 - byte) / size;
    return byte < base ? lane : lane + (byte - base) / size;
  }
};

// What a shadow asks while a touch is entered.
class Judge {
 public:
  virtual bool ordered(const Touch& earlier) const = 0;                 // before the one being entered
  virtual void conflict(const Touch& earlier, uint64_t line, uint64_t bytes) = 0;

 protected:
  ~Judge() = default;
};

class Shadow {
 public:
  static constexpr uint32_t kLine = 64;

  explicit Shadow(size_t most_bytes) : most_(most_bytes) {}
  void enter(uint64_t line, const Touch& touch, Judge& judge);
  void clear();  // keeps its memory, for the next one
  // Every line that was touched, in order of addresses: `visit(line, touches)`.
  template <class F>
  void each(F&& visit) const {
    std::vector<uint64_t> numbers;
    for (const auto& [number, page] : pages_) numbers.push_back(number);
    std::sort(numbers.begin(), numbers.end());
    std::vector<Touch> touches;
    for (const uint64_t number : numbers) {
      const Page& page = *pages_.at(number);
      for (uint32_t i = 0; i < kLinesPerPage; ++i) {
        if (!page[i]) continue;
        touches.clear();
        for (uint32_t index = page[i]; index; index = touches.back().next)
          touches.push_back(chunks_[index / kChunk][index % kChunk]);
        visit(number * kLinesPerPage + i, touches);
      }
    }
  }
  size_t lines() const { return lines_; }
  uint64_t lost() const { return lost_; }  // touches for which there was no room

 private:
  static constexpr uint32_t kLinesPerPage = 64, kChunk = 1 << 14;
  using Page = std::array<uint32_t, kLinesPerPage>;  // first touches

  uint32_t* head(uint64_t line);
  Touch& at(uint32_t index) { return chunks_[index / kChunk][index % kChunk]; }
  uint32_t take();
  void give(uint32_t index);
  bool room() const { return pages_.size() * sizeof(Page) + chunks_.size() * kChunk * sizeof(Touch) < most_; }

  size_t most_, lines_ = 0;
  uint64_t lost_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t last_page_ = ~uint64_t(0);
  Page* last_ = nullptr;
  std::vector<std::unique_ptr<Touch[]>> chunks_;
  uint32_t used_ = 1, free_ = 0;  // index 0 stands for none
};

}  // namespace gpu::check
