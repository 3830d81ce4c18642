// The books: every piece of memory a device can reach, as it passes through the API tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "hsa/hsa.h"

namespace capture {

struct Piece {
  uint64_t base = 0, size = 0;  // as the device sees it
  uint64_t read_at = 0;         // where the host reads it: differs for locked memory only
  const char* kind = "pool";
  uint64_t agent = 0;           // handle of its owner, 0 if not known
  uint32_t flags = 0;           // of its pool
  bool reachable = true;        // vmem: after access was set
};

struct Pool {
  uint64_t agent = 0;
  uint32_t flags = 0;
};

class MemoryBooks {
 public:
  static void hook();

  // Everything there is now, sorted, without overlaps.
  std::vector<Piece> pieces();
  // The allocation an address lies in; its size is zero where there is none, or where the same memory
  // may be known by another address as well.
  Piece allocation_at(uint64_t address);

  void allocated(void* at, size_t size, uint64_t pool);
  void add(const void* at, uint64_t size, const char* kind, uint64_t agent, uint32_t flags = 0, bool reachable = true);
  void remove(const void* at);
  void lock(void* host, size_t size, void* device);
  void unlock(void* host);
  void keep_handle(uint64_t handle, uint64_t pool);  // of virtual memory
  void map(void* at, size_t size, uint64_t handle);
  void set_reachable(const void* at, size_t size, bool now);

  // Memory given back while a capture is under way stays until it is over: true, and nobody frees it now.
  using Free = hsa_status_t (*)(void*);
  bool defer(void* at, Free free);
  void release_deferred();

 private:
  struct Lock {
    uint64_t base;
    unsigned count;
  };
  Pool pool_of(uint64_t handle);  // under the mutex

  std::mutex mutex_;
  std::map<uint64_t, Piece> books_;    // by the device's address
  std::map<uint64_t, Lock> locks_;     // host address -> the piece
  std::map<uint64_t, Pool> handles_;   // of virtual memory -> where it is from
  std::map<uint64_t, Pool> pools_;     // empty until first needed
  std::vector<std::pair<void*, Free>> deferred_;
};

}  // namespace capture
