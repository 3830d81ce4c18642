// HIP's functions by name.
#include <string>

#include "api_impl.h"
#include "entry.h"

namespace hip {

hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }

const char* hipApiName(uint32_t id) { return id < uint32_t(ApiId::count) ? kApiNames[id] : "unknown"; }

namespace {
void* find_api(const std::string& name) {
  for (unsigned i = 0; i < kApiAddressCount; ++i)
    if (name == kApiAddresses[i].name) return kApiAddresses[i].address;
  return nullptr;
}
// The name as a program says it: the newest layout of a versioned one, the thread's stream if asked.
void* look_up(const char* symbol, int version, uint64_t flags) {
  std::string name = symbol;
  if ((name == "hipGetDeviceProperties" || name == "hipChooseDevice") && version >= 600) name += "R0600";
  if (flags == hipEnablePerThreadDefaultStream)
    if (void* found = find_api(name + "_spt")) return found;
  return find_api(name);
}
}  // namespace

hipError_t hipGetProcAddress(const char* symbol, void** pfn, int hipVersion, uint64_t flags,
                             hipDriverProcAddressQueryResult* symbolStatus) {
  if (!symbol || !pfn || !*symbol) return hipErrorInvalidValue;
  // Versions come as 600 or, like HIP_VERSION, as 60043482.
  *pfn = look_up(symbol, hipVersion >= 100000 ? hipVersion / 100000 : hipVersion, flags);
  if (symbolStatus) *symbolStatus = *pfn ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *pfn ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipGetDriverEntryPoint(const char* symbol, void** funcPtr, unsigned long long flags,
                                  hipDriverEntryPointQueryResult* status) {
  if (!symbol || !funcPtr || !*symbol) return hipErrorInvalidValue;
  *funcPtr = look_up(symbol, 600, flags);
  if (status) *status = *funcPtr ? hipDriverEntryPointSuccess : hipDriverEntryPointSymbolNotFound;
  return *funcPtr ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipGetDriverEntryPoint_spt(const char* symbol, void** funcPtr, unsigned long long flags,
                                      hipDriverEntryPointQueryResult* status) {
  return hip::hipGetDriverEntryPoint(symbol, funcPtr,
                                     flags == hipEnableDefault ? hipEnablePerThreadDefaultStream : flags, status);
}

}  // namespace hip
