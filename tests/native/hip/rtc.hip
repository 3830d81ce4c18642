// Kernels compiled while the program runs.
#include "check.h"

#include <hip/hiprtc.h>

#include <string>

static const char* kSource = R"(
#include "scale.h"
template <class T> __global__ void scale(T* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = T(data[i] * FACTOR);
}
namespace deep { __constant__ int offset; }
extern "C" __global__ void shift(int* data) { data[threadIdx.x] += deep::offset; }
)";

#define RTC(call, expected)                                                                    \
  do {                                                                                         \
    hiprtcResult result_ = (call);                                                             \
    if (result_ != (expected)) {                                                               \
      std::printf("  %s:%d: %s: %s\n", __FILE__, __LINE__, #call, hiprtcGetErrorString(result_)); \
      failed() = true;                                                                         \
    }                                                                                          \
  } while (0)

static std::string log_of(hiprtcProgram program) {
  size_t size = 0;
  RTC(hiprtcGetProgramLogSize(program, &size), HIPRTC_SUCCESS);
  std::string log(size, '\0');
  RTC(hiprtcGetProgramLog(program, log.data()), HIPRTC_SUCCESS);
  return log;
}

CASE(compile_name_load_and_launch) {
  hiprtcProgram program;
  const char* header = "#define FACTOR 3\n";
  const char* header_name = "scale.h";
  RTC(hiprtcCreateProgram(&program, kSource, "scale.cu", 1, &header, &header_name), HIPRTC_SUCCESS);
  RTC(hiprtcAddNameExpression(program, "scale<float>"), HIPRTC_SUCCESS);
  RTC(hiprtcAddNameExpression(program, "&scale<int>"), HIPRTC_SUCCESS);
  RTC(hiprtcAddNameExpression(program, "&deep::offset"), HIPRTC_SUCCESS);
  const char* options[] = {"-std=c++17", "-DUNUSED=1"};
  RTC(hiprtcCompileProgram(program, 2, options), HIPRTC_SUCCESS);
  if (failed()) {
    std::printf("%s\n", log_of(program).c_str());
    return;
  }
  const char *of_float, *of_int, *of_offset, *of_nothing;
  RTC(hiprtcGetLoweredName(program, "scale<float>", &of_float), HIPRTC_SUCCESS);
  RTC(hiprtcGetLoweredName(program, "&scale<int>", &of_int), HIPRTC_SUCCESS);
  RTC(hiprtcGetLoweredName(program, "&deep::offset", &of_offset), HIPRTC_SUCCESS);
  RTC(hiprtcGetLoweredName(program, "scale<char>", &of_nothing), HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
  CHECK(std::string(of_float) == "_Z5scaleIfEvPT_i" && std::string(of_int) == "_Z5scaleIiEvPT_i");
  size_t size = 0;
  RTC(hiprtcGetCodeSize(program, &size), HIPRTC_SUCCESS);
  std::vector<char> code(size);
  RTC(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
  RTC(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);

  hipModule_t module;
  hipFunction_t scale, shift;
  OK(hipModuleLoadData(&module, code.data()));
  OK(hipModuleGetFunction(&scale, module, "_Z5scaleIiEvPT_i"));
  OK(hipModuleGetFunction(&shift, module, "shift"));
  hipDeviceptr_t offset;
  OK(hipModuleGetGlobal(&offset, &size, module, "_ZN4deep6offsetE"));
  int hundred = 100, host[4] = {1, 2, 3, 4}, *data, n = 4;
  OK(hipMemcpyHtoD(offset, &hundred, 4));
  OK(hipMalloc(&data, 16));
  OK(hipMemcpy(data, host, 16, hipMemcpyHostToDevice));
  void* scale_args[] = {&data, &n};
  void* shift_args[] = {&data};
  OK(hipModuleLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, nullptr, scale_args, nullptr));
  OK(hipModuleLaunchKernel(shift, 1, 1, 1, 4, 1, 1, 0, nullptr, shift_args, nullptr));
  OK(hipMemcpy(host, data, 16, hipMemcpyDeviceToHost));
  CHECK(host[0] == 103 && host[3] == 112);
  OK(hipFree(data));
  OK(hipModuleUnload(module));
}

CASE(a_mistake_is_told_with_its_place) {
  hiprtcProgram program;
  RTC(hiprtcCreateProgram(&program, "__global__ void k(int* p) { *p = oops; }\n", "wrong.cu", 0,
                          nullptr, nullptr), HIPRTC_SUCCESS);
  RTC(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_ERROR_COMPILATION);
  std::string log = log_of(program);
  CHECK(log.find("wrong.cu:1:") != std::string::npos && log.find("oops") != std::string::npos);
  size_t size;
  RTC(hiprtcGetCodeSize(program, &size), HIPRTC_ERROR_INVALID_PROGRAM);
  RTC(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
}

int main(int argc, char** argv) { return run_cases(argc, argv); }
