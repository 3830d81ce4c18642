// Run-time compilation: the source goes to the project's compiler as a process of its own.
#include <hip/hiprtc.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "api_impl.h"
#include "codeobject/bundle.h"
#include "codeobject/elf.h"
#include "subprocess.h"

struct _hiprtcProgram {
  std::string source, name, log, code;
  std::map<std::string, std::string> headers;  // include name -> text
  std::vector<std::string> expressions;
  std::map<std::string, std::string> lowered;
  bool compiled = false;
};

namespace hip {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNamePrefix = "__hiprtc_name_";

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "hiprtc-XXXXXX").string();
    if (mkdtemp(pattern.data())) path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  fs::path path;
};

// The compiler: what the environment names, else `rocm-perf hipcc`, else hipcc.
std::vector<std::string> compiler() {
  if (const char* named = std::getenv("ROCM_PERF_HIPCC"); named && *named) {
    if (fs::path(named).filename().string().rfind("rocm-perf", 0) == 0) return {named, "hipcc"};
    return {named};
  }
  if (!find_program("rocm-perf").empty()) return {"rocm-perf", "hipcc"};
  return {"hipcc"};
}

// The architecture of the program's current device, where the runtime is in the process.
std::string default_target() {
  using Query = hipError_t (*)(hipDeviceProp_tR0600*, int);
  auto query = reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, "hipGetDevicePropertiesR0600"));
  auto properties = std::make_unique<hipDeviceProp_tR0600>();
  if (query && query(properties.get(), 0) == hipSuccess) {
    std::string target = properties->gcnArchName;
    return target.substr(0, target.find(':'));
  }
  return "gfx942";
}

// An include name may have folders; it may not leave the temporary one.
bool write_header(const fs::path& folder, const std::string& name, const std::string& text) {
  fs::path relative = fs::path(name).lexically_normal();
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") return false;
  std::error_code error;
  fs::create_directories((folder / relative).parent_path(), error);
  std::ofstream file(folder / relative, std::ios::binary);
  file << text;
  return bool(file);
}

// The addresses of what was asked for by name, as data: the linker's relocations tell the symbols.
std::string name_expressions(const _hiprtcProgram& program) {
  std::string text = "\n#line 1 \"hiprtc name expressions\"\n";
  for (size_t i = 0; i < program.expressions.size(); ++i) {
    std::string expression = program.expressions[i];
    if (expression.find('&') == std::string::npos) expression = "&" + expression;
    text += "extern \"C\" __attribute__((device, used)) const void* " + std::string(kNamePrefix) + std::to_string(i) +
            " = (const void*)(" + expression + ");\n";
  }
  return text;
}

hiprtcResult copy_out(const std::string& text, char* to, bool terminated) {
  if (!to) return HIPRTC_ERROR_INVALID_INPUT;
  std::memcpy(to, text.data(), text.size());
  if (terminated) to[text.size()] = '\0';
  return HIPRTC_SUCCESS;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

const char* hiprtcGetErrorString(hiprtcResult result) {
  switch (result) {
    case HIPRTC_SUCCESS: return "HIPRTC_SUCCESS";
    case HIPRTC_ERROR_OUT_OF_MEMORY: return "HIPRTC_ERROR_OUT_OF_MEMORY";
    case HIPRTC_ERROR_PROGRAM_CREATION_FAILURE: return "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case HIPRTC_ERROR_INVALID_INPUT: return "HIPRTC_ERROR_INVALID_INPUT";
    case HIPRTC_ERROR_INVALID_PROGRAM: return "HIPRTC_ERROR_INVALID_PROGRAM";
    case HIPRTC_ERROR_INVALID_OPTION: return "HIPRTC_ERROR_INVALID_OPTION";
    case HIPRTC_ERROR_COMPILATION: return "HIPRTC_ERROR_COMPILATION";
    case HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE: return "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    case HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION:
      return "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION: return "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID: return "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    case HIPRTC_ERROR_INTERNAL_ERROR: return "HIPRTC_ERROR_INTERNAL_ERROR";
    case HIPRTC_ERROR_LINKING: return "HIPRTC_ERROR_LINKING";
    default: return "Invalid HIPRTC error code";
  }
}

hiprtcResult hiprtcVersion(int* major, int* minor) {
  if (!major || !minor) return HIPRTC_ERROR_INVALID_INPUT;
  *major = 9;
  *minor = 0;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram* prog, const char* src, const char* name, int numHeaders,
                                 const char* const* headers, const char* const* includeNames) {
  if (!prog || !src || numHeaders < 0 || (numHeaders > 0 && (!headers || !includeNames)))
    return HIPRTC_ERROR_INVALID_INPUT;
  auto* program = new _hiprtcProgram;
  program->source = src;
  program->name = name && *name ? fs::path(name).filename().string() : "CompileSource.hip";
  for (int i = 0; i < numHeaders; ++i) {
    if (!headers[i] || !includeNames[i]) {
      delete program;
      return HIPRTC_ERROR_INVALID_INPUT;
    }
    program->headers[includeNames[i]] = headers[i];
  }
  *prog = program;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram* prog) {
  if (!prog || !*prog) return HIPRTC_ERROR_INVALID_INPUT;
  delete *prog;
  *prog = nullptr;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcAddNameExpression(hiprtcProgram prog, const char* name_expression) {
  if (!prog || !name_expression) return HIPRTC_ERROR_INVALID_INPUT;
  if (prog->compiled) return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  prog->expressions.emplace_back(name_expression);
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram prog, int numOptions, const char* const* options) {
  if (!prog || numOptions < 0 || (numOptions > 0 && !options)) return HIPRTC_ERROR_INVALID_INPUT;
  TemporaryFolder folder;
  if (folder.path.empty()) return HIPRTC_ERROR_INTERNAL_ERROR;
  const fs::path source = folder.path / (prog->name + ".hip"), output = folder.path / "code";
  for (const auto& [name, text] : prog->headers)
    if (!write_header(folder.path, name, text)) return HIPRTC_ERROR_INVALID_INPUT;
  {
    // hiprtc programs use the device API without including it.
    std::ofstream file(source, std::ios::binary);
    file << "#include <hip/hip_runtime.h>\n#line 1 \"" << prog->name << "\"\n"
         << prog->source << name_expressions(*prog);
    if (!file) return HIPRTC_ERROR_INTERNAL_ERROR;
  }
  std::vector<std::string> command = compiler();
  std::string target;
  for (const char* more : {"-x", "hip", "--offload-device-only", "-D__HIPCC_RTC__=1", "-O3"})
    command.emplace_back(more);
  for (int i = 0; i < numOptions; ++i) {
    std::string option = options[i] ? options[i] : "";
    for (const char* spelling : {"--gpu-architecture=", "-arch=", "--offload-arch="})
      if (option.rfind(spelling, 0) == 0) target = option.substr(std::strlen(spelling));
    const bool ours = option.empty() || option.rfind("--gpu-architecture=", 0) == 0 || option.rfind("-arch=", 0) == 0 ||
                      option.rfind("--offload-arch=", 0) == 0 || option == "-fgpu-rdc" || option == "--rdc=true";
    if (!ours) command.push_back(option);
  }
  if (target.empty()) target = default_target();
  command.push_back("--offload-arch=" + target);
  command.push_back("-I" + folder.path.string());
  command.push_back(source.string());
  command.emplace_back("-o");
  command.push_back(output.string());
  ProcessResult result = run_process(command);
  prog->log = result.output;
  if (!result.started) {
    prog->log = "cannot start the compiler " + command[0] + " (ROCM_PERF_HIPCC names it): " + result.output;
    return HIPRTC_ERROR_INTERNAL_ERROR;
  }
  if (result.exit_code != 0) return HIPRTC_ERROR_COMPILATION;
  prog->code = read_file(output);
  if (prog->code.empty()) return HIPRTC_ERROR_INTERNAL_ERROR;
  if (!prog->expressions.empty()) {
    codeobject::Image image;
    std::string why;
    if (select_image(prog->code.data(), prog->code.size(), target, image, why) != codeobject::BundleStatus::Found)
      return HIPRTC_ERROR_INTERNAL_ERROR;
    const auto object = codeobject::elf::parse({reinterpret_cast<const uint8_t*>(image.data), image.size}, why);
    if (!object) return HIPRTC_ERROR_INTERNAL_ERROR;
    for (size_t i = 0; i < prog->expressions.size(); ++i) {
      std::string symbol(object->pointed_to_by(kNamePrefix + std::to_string(i)));
      if (symbol.empty()) return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
      prog->lowered[prog->expressions[i]] = symbol;
    }
  }
  prog->compiled = true;
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetLoweredName(hiprtcProgram prog, const char* name_expression, const char** lowered_name) {
  if (!prog || !name_expression || !lowered_name) return HIPRTC_ERROR_INVALID_INPUT;
  if (!prog->compiled) return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  auto found = prog->lowered.find(name_expression);
  if (found == prog->lowered.end()) return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *lowered_name = found->second.c_str();
  return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram prog, size_t* logSizeRet) {
  if (!prog || !logSizeRet) return HIPRTC_ERROR_INVALID_INPUT;
  *logSizeRet = prog->log.size() + 1;
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetProgramLog(hiprtcProgram prog, char* log) {
  return prog ? copy_out(prog->log, log, true) : HIPRTC_ERROR_INVALID_INPUT;
}
hiprtcResult hiprtcGetCodeSize(hiprtcProgram prog, size_t* codeSizeRet) {
  if (!prog || !codeSizeRet) return HIPRTC_ERROR_INVALID_INPUT;
  if (!prog->compiled) return HIPRTC_ERROR_INVALID_PROGRAM;
  *codeSizeRet = prog->code.size();
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetCode(hiprtcProgram prog, char* code) {
  if (!prog || !prog->compiled) return HIPRTC_ERROR_INVALID_PROGRAM;
  return copy_out(prog->code, code, false);
}

// Bitcode and its linker need LLVM in the process; there is none.
hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram, size_t*) { return HIPRTC_ERROR_INVALID_PROGRAM; }
hiprtcResult hiprtcGetBitcode(hiprtcProgram, char*) { return HIPRTC_ERROR_INVALID_PROGRAM; }
hiprtcResult hiprtcLinkCreate(unsigned int, hipJitOption*, void**, hiprtcLinkState*) { return HIPRTC_ERROR_LINKING; }
hiprtcResult hiprtcLinkAddFile(hiprtcLinkState, hipJitInputType, const char*, unsigned int, hipJitOption*, void**) {
  return HIPRTC_ERROR_LINKING;
}
hiprtcResult hiprtcLinkAddData(hiprtcLinkState, hipJitInputType, void*, size_t, const char*, unsigned int,
                               hipJitOption*, void**) {
  return HIPRTC_ERROR_LINKING;
}
hiprtcResult hiprtcLinkComplete(hiprtcLinkState, void**, size_t*) { return HIPRTC_ERROR_LINKING; }
hiprtcResult hiprtcLinkDestroy(hiprtcLinkState) { return HIPRTC_ERROR_LINKING; }

}  // namespace hip
