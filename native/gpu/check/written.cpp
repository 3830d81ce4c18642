#include "written.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>

#include "accesses.h"
#include "settings.h"

namespace gpu::check {
namespace {

struct Pieces {
  std::shared_mutex mutex;
  std::map<uint64_t, std::shared_ptr<WrittenPiece>> by_base;
  std::atomic<uint64_t> generation{1};
};

Pieces& pieces() {
  static Pieces& all = *new Pieces;  // outlives every thread and static destructor
  return all;
}

bool wanted() {
  const Settings* chosen = settings();
  return chosen && chosen->init;
}

uint64_t address_of(const void* at) { return reinterpret_cast<uint64_t>(at); }

}  // namespace

// Untouched pages of it cost nothing: zeros mean that nobody has written.
WrittenPiece::WrittenPiece(uint64_t base, uint64_t size) : base(base), end(base + size) {
  taken_ = ByteBits::words_for(size) * sizeof(uint64_t);
  memory_ = mmap(nullptr, taken_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  bits = ByteBits(static_cast<uint64_t*>(memory_), size);
}

WrittenPiece::~WrittenPiece() { munmap(memory_, taken_); }

void not_yet_written(uint64_t base, uint64_t size) {
  if (!wanted()) return;
  auto piece = std::make_shared<WrittenPiece>(base, size);
  std::unique_lock lock(pieces().mutex);
  pieces().by_base[base] = std::move(piece);
  ++pieces().generation;
}

void no_longer_there(uint64_t base) {
  if (!wanted()) return;
  std::unique_lock lock(pieces().mutex);
  pieces().by_base.erase(base);
  ++pieces().generation;
}

std::shared_ptr<WrittenPiece> written_piece(uint64_t address) {
  std::shared_lock lock(pieces().mutex);
  auto after = pieces().by_base.upper_bound(address);
  if (after == pieces().by_base.begin()) return nullptr;
  const auto& piece = std::prev(after)->second;
  return address < piece->end ? piece : nullptr;
}

uint64_t written_generation() { return pieces().generation.load(std::memory_order_acquire); }

void was_written(const void* to, uint64_t size) {
  touched_outside(address_of(to), size, true);
  if (!wanted()) return;
  if (const auto piece = written_piece(address_of(to))) piece->bits.set(address_of(to) - piece->base, size);
}

void given_again(const void* base, uint64_t size) {
  if (!wanted()) return;
  const auto piece = written_piece(address_of(base));
  if (!piece) return;
  for (uint64_t done = 0; done < size; done += 64)
    piece->bits.put(address_of(base) - piece->base + done, uint32_t(std::min<uint64_t>(64, size - done)), 0);
}

// As written as what it was copied from.
void was_copied(const void* to, const void* from, uint64_t size) {
  touched_outside(address_of(from), size, false);
  touched_outside(address_of(to), size, true);
  if (!wanted()) return;
  const auto source = written_piece(address_of(from)), target = written_piece(address_of(to));
  if (!target) return;
  if (!source) return target->bits.set(address_of(to) - target->base, size);
  const uint64_t at = address_of(to) - target->base, out = address_of(from) - source->base;
  for (uint64_t done = 0; done < size; done += 64) {
    const uint32_t part = uint32_t(std::min<uint64_t>(64, size - done));
    target->bits.put(at + done, part, source->bits.get(out + done, part));
  }
}

}  // namespace gpu::check
