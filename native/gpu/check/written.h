// Which bytes of the device's own memory somebody has written since it was allocated: a kernel, a copy, a
// fill. Memory that the host reaches by itself is written, as far as anybody here can know.
#pragma once

#include <cstdint>
#include <memory>

#include "byte_bits.h"

namespace gpu::check {

struct WrittenPiece {
  uint64_t base = 0, end = 0;
  ByteBits bits;
  WrittenPiece(uint64_t base, uint64_t size);
  ~WrittenPiece();
  WrittenPiece(const WrittenPiece&) = delete;
  WrittenPiece& operator=(const WrittenPiece&) = delete;

 private:
  void* memory_;
  size_t taken_;
};

// Nothing happens where initialisation is not checked.
void not_yet_written(uint64_t base, uint64_t size);  // allocated
void no_longer_there(uint64_t base);                 // freed
void given_again(const void* base, uint64_t size);   // freed and allocated anew within an allocation
void was_written(const void* to, uint64_t size);
void was_copied(const void* to, const void* from, uint64_t size);

// The allocation that holds an address; nullptr where nothing is known of it. The answer holds as long as
// the generation is the same.
std::shared_ptr<WrittenPiece> written_piece(uint64_t address);
uint64_t written_generation();

}  // namespace gpu::check
