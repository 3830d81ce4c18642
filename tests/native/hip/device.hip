#include "check.h"

#include <string>

CASE(properties) {
  int count;
  OK(hipGetDeviceCount(&count));
  CHECK(count >= 1);
  hipDeviceProp_t p;
  OK(hipGetDeviceProperties(&p, 0));
  const std::string architecture = p.gcnArchName;
  const bool mi300x = std::string(p.name).find("MI300X") != std::string::npos;
  CHECK(architecture.rfind("gfx9", 0) == 0);
  CHECK(p.warpSize == 64 && p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock == 65536);
  CHECK(p.maxThreadsPerMultiProcessor == 2048 && p.major == 9 && p.cooperativeLaunch == 1);
  if (mi300x) CHECK(p.multiProcessorCount == 304 && p.minor == 4 && p.totalGlobalMem > 180ull << 30);
  int value;
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
  CHECK(value == p.multiProcessorCount);
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
  CHECK(value == 64);
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxAvailableVgprsPerThread, 0));
  CHECK(value == 512);
  CHECK(p.regsPerBlock == 512 * 4 * 64 && p.regsPerMultiprocessor == p.regsPerBlock);
  STATUS(hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)5000, 0), hipErrorInvalidValue);
  STATUS(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, count), hipErrorInvalidDevice);
  STATUS(hipGetDeviceProperties(&p, -1), hipErrorInvalidDevice);
  char name[256], bus[32];
  OK(hipDeviceGetName(name, sizeof name, 0));
  OK(hipDeviceGetPCIBusId(bus, sizeof bus, 0));
  OK(hipDeviceGetByPCIBusId(&value, bus));
  CHECK(value == 0);
}

CASE(current_device) {
  int device = -1;
  OK(hipGetDevice(&device));
  CHECK(device == 0);
  OK(hipSetDevice(0));
  STATUS(hipSetDevice(99), hipErrorInvalidDevice);
  STATUS(hipGetLastError(), hipErrorInvalidDevice);
  hipCtx_t context;
  OK(hipCtxGetCurrent(&context));
  OK(hipDevicePrimaryCtxRetain(&context, 0));
  OK(hipCtxSetCurrent(context));
  int driver, runtime;
  OK(hipDriverGetVersion(&driver));
  OK(hipRuntimeGetVersion(&runtime));
  CHECK(driver == HIP_VERSION && runtime == HIP_VERSION);
}

CASE(limits) {
  size_t value;
  OK(hipDeviceGetLimit(&value, hipLimitStackSize));
  CHECK(value > 0);
  OK(hipDeviceSetLimit(hipLimitMallocHeapSize, 1 << 24));
  OK(hipDeviceGetLimit(&value, hipLimitMallocHeapSize));
  CHECK(value == 1 << 24);
  STATUS(hipDeviceGetLimit(&value, (hipLimit_t)77), hipErrorUnsupportedLimit);
}

CASE(errors_have_names_and_texts) {
  CHECK(std::string(hipGetErrorName(hipErrorOutOfMemory)) == "hipErrorOutOfMemory");
  CHECK(std::string(hipGetErrorString(hipErrorOutOfMemory)) == "out of memory");
  CHECK(std::string(hipGetErrorString((hipError_t)1500)) == "unrecognized error code");
  int value;
  STATUS(hipDeviceGetAttribute(nullptr, hipDeviceAttributeWarpSize, 0), hipErrorInvalidValue);
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
  STATUS(hipGetLastError(), hipErrorInvalidValue);  // a success does not wipe out the error
  OK(hipGetLastError());
}

CASE(what_is_not_supported_says_so) {
  hipIpcMemHandle_t handle;
  void* p;
  OK(hipMalloc(&p, 64));
  STATUS(hipIpcGetMemHandle(&handle, p), hipErrorNotSupported);
  STATUS(hipIpcGetMemHandle(&handle, p), hipErrorNotSupported);
  hipTextureObject_t texture;
  hipResourceDesc resource{};
  hipTextureDesc description{};
  STATUS(hipCreateTextureObject(&texture, &resource, &description, nullptr), hipErrorNotSupported);
  OK(hipFree(p));
}

CASE(functions_by_name) {
  void* function = nullptr;
  hipDriverProcAddressQueryResult found;
  OK(hipGetProcAddress("hipMalloc", &function, 600, 0, &found));
  CHECK(function && found == HIP_GET_PROC_ADDRESS_SUCCESS);
  void* p;
  OK(((hipError_t(*)(void**, size_t))function)(&p, 64));
  OK(hipFree(p));
  STATUS(hipGetProcAddress("hipNothing", &function, 600, 0, &found), hipErrorInvalidValue);
  CHECK(found == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

int main(int argc, char** argv) { return run_cases(argc, argv); }
