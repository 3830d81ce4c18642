// Contexts: a device under another handle.
#include <vector>

#include "api_impl.h"
#include "runtime.h"
#include "thread_state.h"

struct ihipCtx_t {
  int device;
  unsigned flags;
  bool primary;
};

namespace hip {

namespace {

// One primary context per device; created ones are the device under another handle.
ihipCtx_t* primary_context(int device) {
  static auto* contexts = [] {
    auto* list = new std::vector<ihipCtx_t>;
    for (size_t i = 0; i < runtime().devices.size(); ++i) list->push_back({int(i), 0, true});
    return list;
  }();
  return &(*contexts)[size_t(device)];
}

}  // namespace

hipError_t hipCtxCreate(hipCtx_t* ctx, unsigned int flags, hipDevice_t device) {
  if (!ctx) return hipErrorInvalidValue;
  if (hipError_t status = hip::hipSetDevice(device)) return status;
  *ctx = new ihipCtx_t{device, flags, false};
  thread_state().contexts.push_back(*ctx);
  return hipSuccess;
}
hipError_t hipCtxDestroy(hipCtx_t ctx) {
  if (!ctx) return hipErrorInvalidValue;
  auto& stack = thread_state().contexts;
  if (!stack.empty() && stack.back() == ctx) stack.pop_back();
  if (!ctx->primary) delete ctx;
  return hipSuccess;
}
hipError_t hipCtxPushCurrent(hipCtx_t ctx) {
  if (!ctx) return hipErrorInvalidContext;
  thread_state().contexts.push_back(ctx);
  return hip::hipSetDevice(ctx->device);
}
hipError_t hipCtxPopCurrent(hipCtx_t* ctx) {
  auto& stack = thread_state().contexts;
  if (stack.empty()) return hipErrorInvalidContext;
  if (ctx) *ctx = stack.back();
  stack.pop_back();
  return stack.empty() ? hipSuccess : hip::hipSetDevice(stack.back()->device);
}
hipError_t hipCtxSetCurrent(hipCtx_t ctx) {
  auto& stack = thread_state().contexts;
  if (!stack.empty()) stack.pop_back();
  if (!ctx) return hipSuccess;
  stack.push_back(ctx);
  return hip::hipSetDevice(ctx->device);
}
hipError_t hipCtxGetCurrent(hipCtx_t* ctx) {
  if (!ctx) return hipErrorInvalidValue;
  if (!current_device()) return runtime().status;
  auto& stack = thread_state().contexts;
  *ctx = stack.empty() ? primary_context(thread_state().device) : stack.back();
  return hipSuccess;
}
hipError_t hipCtxGetApiVersion(hipCtx_t, unsigned int* apiVersion) {
  if (!apiVersion) return hipErrorInvalidValue;
  *apiVersion = 4;
  return hipSuccess;
}
hipError_t hipCtxEnablePeerAccess(hipCtx_t peerCtx, unsigned int flags) {
  return peerCtx ? hip::hipDeviceEnablePeerAccess(peerCtx->device, flags) : hipErrorInvalidContext;
}
hipError_t hipCtxDisablePeerAccess(hipCtx_t peerCtx) {
  return peerCtx ? hip::hipDeviceDisablePeerAccess(peerCtx->device) : hipErrorInvalidContext;
}
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* pctx, hipDevice_t device) {
  if (!device_at(device)) return hipErrorInvalidDevice;
  if (!pctx) return hipErrorInvalidValue;
  *pctx = primary_context(device);
  return hipSuccess;
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return device_at(device) ? hipSuccess : hipErrorInvalidDevice;
}
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  return device_at(device) ? hipSuccess : hipErrorInvalidDevice;
}
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int) {
  return device_at(device) ? hipErrorContextAlreadyInUse : hipErrorInvalidDevice;
}
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t index, unsigned int* flags, int* active) {
  Device* device = device_at(index);
  if (!device) return hipErrorInvalidDevice;
  if (flags) *flags = device->flags;
  if (active) *active = index == thread_state().device;
  return hipSuccess;
}

}  // namespace hip
