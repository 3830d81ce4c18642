#include "tables.h"

#include <cstring>

namespace capture {

namespace {

// ROCm 5.2's table of AMD extensions (major 1, 48 slots) lacks two slots in its middle; from
// ROCm 6 on (major 2) slots are only added at the end.
constexpr size_t kAdded = offsetof(AmdExtTable, hsa_amd_memory_async_copy_on_engine_fn);
constexpr size_t kAddedBytes = 2 * sizeof(void*);
constexpr size_t kOldBytes = sizeof(ApiTableVersion) + 48 * sizeof(void*);
// Up to here the order is the same as today, the two apart.
constexpr size_t kOldEnd = offsetof(AmdExtTable, hsa_amd_spm_acquire_fn);

}  // namespace

void** Tables::place_of(size_t offset) const {
  const bool there = offset + sizeof(void*) <= given_->core_->version.minor_id;
  return there ? reinterpret_cast<void**>(reinterpret_cast<char*>(given_->core_) + offset) : nullptr;
}

void** Tables::place_of_amd(size_t offset) const {
  if (given_->amd_ext_->version.major_id == 1) {
    if (offset >= kOldEnd) return nullptr;
    if (offset >= kAdded) {
      if (offset < kAdded + kAddedBytes) return nullptr;
      offset -= kAddedBytes;
    }
  }
  const bool there = offset + sizeof(void*) <= given_->amd_ext_->version.minor_id;
  return there ? reinterpret_cast<void**>(reinterpret_cast<char*>(given_->amd_ext_) + offset) : nullptr;
}

bool Tables::adopt(HsaApiTable* given, std::string& why) {
  given_ = given;
  const ApiTableVersion& root = given->version;
  // The root table has held these two since its first version.
  if (root.minor_id < offsetof(HsaApiTable, amd_ext_) + sizeof(void*) || !given->core_ || !given->amd_ext_) {
    why = "the runtime's table of tables is too small";
    return false;
  }
  const ApiTableVersion& version = given->amd_ext_->version;
  const bool known = version.major_id == 2 || (version.major_id == 1 && version.minor_id == kOldBytes);
  if (!known) {
    why = "the runtime's table of AMD extensions has version " + std::to_string(version.major_id) + " with " +
          std::to_string(version.minor_id) + " bytes; known are 2 (ROCm 6 and later) and 1 with " +
          std::to_string(kOldBytes) + " (ROCm 5.2)";
    return false;
  }
  for (size_t at = sizeof(ApiTableVersion); at < sizeof core; at += sizeof(void*))
    if (void** place = place_of(at)) std::memcpy(reinterpret_cast<char*>(&core) + at, place, sizeof *place);
  for (size_t at = sizeof(ApiTableVersion); at < sizeof amd; at += sizeof(void*))
    if (void** place = place_of_amd(at)) std::memcpy(reinterpret_cast<char*>(&amd) + at, place, sizeof *place);
  const bool enough = core.hsa_executable_iterate_program_symbols_fn && amd.hsa_amd_queue_intercept_register_fn &&
                      amd.hsa_amd_svm_attributes_set_fn;
  if (!enough) why = "the runtime's tables lack functions that a capture needs";
  return enough;
}

}  // namespace capture
