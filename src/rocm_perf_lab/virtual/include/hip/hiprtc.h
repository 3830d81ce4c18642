// Run-time compilation. The compiler is the one `rocm-perf hipcc` found.
#ifndef ROCM_PERF_HIP_HIPRTC_H
#define ROCM_PERF_HIP_HIPRTC_H

#include <stddef.h>

#include <hip/hip_common.h>
#include <hip/linker_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hiprtcResult {
  HIPRTC_SUCCESS = 0,
  HIPRTC_ERROR_OUT_OF_MEMORY = 1,
  HIPRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  HIPRTC_ERROR_INVALID_INPUT = 3,
  HIPRTC_ERROR_INVALID_PROGRAM = 4,
  HIPRTC_ERROR_INVALID_OPTION = 5,
  HIPRTC_ERROR_COMPILATION = 6,
  HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  HIPRTC_ERROR_INTERNAL_ERROR = 11,
  HIPRTC_ERROR_LINKING = 100
} hiprtcResult;

typedef struct _hiprtcProgram* hiprtcProgram;
typedef struct ihiprtcLinkState* hiprtcLinkState;

#define hiprtcJIT_option hipJitOption
#define hiprtcJITInputType hipJitInputType
#define HIPRTC_JIT_INPUT_CUBIN hipJitInputCubin
#define HIPRTC_JIT_INPUT_FATBINARY hipJitInputFatBinary
#define HIPRTC_JIT_INPUT_OBJECT hipJitInputObject
#define HIPRTC_JIT_INPUT_LLVM_BITCODE hipJitInputLLVMBitcode

#define HIP_API __attribute__((visibility("default")))
HIP_API const char* hiprtcGetErrorString(hiprtcResult result);
HIP_API hiprtcResult hiprtcVersion(int* major, int* minor);
HIP_API hiprtcResult hiprtcCreateProgram(hiprtcProgram* prog, const char* src, const char* name,
    int numHeaders, const char* const* headers, const char* const* includeNames);
HIP_API hiprtcResult hiprtcDestroyProgram(hiprtcProgram* prog);
HIP_API hiprtcResult hiprtcAddNameExpression(hiprtcProgram prog, const char* name_expression);
HIP_API hiprtcResult hiprtcCompileProgram(hiprtcProgram prog, int numOptions,
    const char* const* options);
HIP_API hiprtcResult hiprtcGetLoweredName(hiprtcProgram prog, const char* name_expression,
    const char** lowered_name);
HIP_API hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram prog, size_t* logSizeRet);
HIP_API hiprtcResult hiprtcGetProgramLog(hiprtcProgram prog, char* log);
HIP_API hiprtcResult hiprtcGetCodeSize(hiprtcProgram prog, size_t* codeSizeRet);
HIP_API hiprtcResult hiprtcGetCode(hiprtcProgram prog, char* code);
HIP_API hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram prog, size_t* bitcode_size);
HIP_API hiprtcResult hiprtcGetBitcode(hiprtcProgram prog, char* bitcode);
HIP_API hiprtcResult hiprtcLinkCreate(unsigned int num_options, hipJitOption* option_ptr,
    void** option_vals_pptr, hiprtcLinkState* hip_link_state_ptr);
HIP_API hiprtcResult hiprtcLinkAddFile(hiprtcLinkState hip_link_state, hipJitInputType input_type,
    const char* file_path, unsigned int num_options, hipJitOption* options_ptr,
    void** option_values);
HIP_API hiprtcResult hiprtcLinkAddData(hiprtcLinkState hip_link_state, hipJitInputType input_type,
    void* image, size_t image_size, const char* name, unsigned int num_options,
    hipJitOption* options_ptr, void** option_values);
HIP_API hiprtcResult hiprtcLinkComplete(hiprtcLinkState hip_link_state, void** bin_out,
    size_t* size_out);
HIP_API hiprtcResult hiprtcLinkDestroy(hiprtcLinkState hip_link_state);
#undef HIP_API

#ifdef __cplusplus
}
#endif

#endif
