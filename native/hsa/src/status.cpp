// Status codes in words.
#include "hsa_impl.h"

namespace {
struct Text {
  int status;
  const char* text;
};
constexpr Text kTexts[] = {
#define RPL_TEXT(name, words) {name, #name ": " words}
    RPL_TEXT(HSA_STATUS_SUCCESS, "done"),
    RPL_TEXT(HSA_STATUS_INFO_BREAK, "a callback stopped the iteration"),
    RPL_TEXT(HSA_STATUS_ERROR, "something failed"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_ARGUMENT, "an argument is not allowed"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_QUEUE_CREATION, "this agent has no such queues"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_ALLOCATION, "not an allocation, or not one that reaches so far"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_AGENT, "not an agent"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_REGION, "not a memory region"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_SIGNAL, "not a signal"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_QUEUE, "not a queue"),
    RPL_TEXT(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "out of memory or another resource"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "an AQL packet that cannot be processed"),
    RPL_TEXT(HSA_STATUS_ERROR_RESOURCE_FREE, "a resource could not be released"),
    RPL_TEXT(HSA_STATUS_ERROR_NOT_INITIALIZED, "hsa_init has not been called"),
    RPL_TEXT(HSA_STATUS_ERROR_REFCOUNT_OVERFLOW, "hsa_init has been called too often"),
    RPL_TEXT(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, "arguments that do not go together"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_INDEX, "an index out of range"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_ISA, "not an instruction set"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_ISA_NAME, "not the name of an instruction set here"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_CODE_OBJECT, "not a code object this agent can load"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_EXECUTABLE, "not an executable"),
    RPL_TEXT(HSA_STATUS_ERROR_FROZEN_EXECUTABLE, "the executable is frozen"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME, "no symbol of that name"),
    RPL_TEXT(HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED, "the variable is already defined"),
    RPL_TEXT(HSA_STATUS_ERROR_VARIABLE_UNDEFINED, "a variable is not defined"),
    RPL_TEXT(HSA_STATUS_ERROR_EXCEPTION, "a kernel raised an exception"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_CODE_SYMBOL, "not a code symbol"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL, "not an executable symbol"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_FILE, "the file cannot be read"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, "not a code object reader"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_CACHE, "not a cache"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_WAVEFRONT, "not a wavefront"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP, "not a signal group"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_RUNTIME_STATE, "the runtime is not in a state for this"),
    RPL_TEXT(HSA_STATUS_ERROR_FATAL, "the queue has hit a fatal error"),
    RPL_TEXT(HSA_STATUS_ERROR_INVALID_MEMORY_POOL, "not a memory pool"),
    RPL_TEXT(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION, "an access outside LDS or scratch, or not aligned"),
    RPL_TEXT(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION, "an instruction the device does not have"),
    RPL_TEXT(HSA_STATUS_ERROR_MEMORY_FAULT, "an access to memory that is not there or not writable"),
    RPL_TEXT(HSA_STATUS_CU_MASK_REDUCED, "the compute unit mask was reduced"),
    RPL_TEXT(HSA_STATUS_ERROR_OUT_OF_REGISTERS, "a workgroup needs more registers than there are"),
    RPL_TEXT(HSA_STATUS_ERROR_RESOURCE_BUSY, "the resource is in use"),
    RPL_TEXT(HSA_STATUS_ERROR_NOT_SUPPORTED, "not supported by the virtual GPU"),
#undef RPL_TEXT
};
}  // namespace

namespace impl {
hsa_status_t hsa_status_string(hsa_status_t status, const char** text) {
  if (!text) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const Text& entry : kTexts) {
    if (entry.status != int(status)) continue;
    *text = entry.text;
    return HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
}  // namespace impl
