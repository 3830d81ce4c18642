// The runtime's API tables, whatever its version, seen in the layout of our own header.
#pragma once

#include <cstddef>
#include <string>

#include "hsa/hsa_api_trace.h"

namespace capture {

class Tables {
 public:
  // The runtime's functions as they were before ours; a slot the runtime does not have is null.
  CoreApiTable core{};
  AmdExtTable amd{};

  // Reads the tables. False, with the reason, where the layout is none that is known.
  bool adopt(HsaApiTable* given, std::string& why);

  template <class T>
  void hook(T* CoreApiTable::* slot, T* function) {
    if (void** place = place_of(offset_in(&core, core.*slot))) *place = reinterpret_cast<void*>(function);
  }
  template <class T>
  void hook(T* AmdExtTable::* slot, T* function) {
    if (void** place = place_of_amd(offset_in(&amd, amd.*slot))) *place = reinterpret_cast<void*>(function);
  }

 private:
  template <class T>
  static size_t offset_in(const void* table, const T& slot) {
    return size_t(reinterpret_cast<const char*>(&slot) - static_cast<const char*>(table));
  }
  // Where a slot is in the runtime's table; null if it has none.
  void** place_of(size_t offset_in_core_table) const;
  void** place_of_amd(size_t offset_in_amd_table) const;

  HsaApiTable* given_ = nullptr;
};

}  // namespace capture
