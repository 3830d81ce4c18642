// The API tables and the tool libraries that get to change them.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>

#include "hsa_impl.h"
#include "runtime.h"

namespace {

hsa_status_t no_event(const void*) { return HSA_STATUS_SUCCESS; }
hsa_status_t no_pc_sampling() { return unsupported("hsa_ven_amd_pcs_*"); }

template <class Table>
void stamp(Table& table, uint32_t major, uint32_t step) {
  table.version = {major, uint32_t(sizeof(Table)), step, 0};
}

struct Tool {
  void* library;
  void (*on_unload)();
};
std::vector<Tool>& tools() {
  static auto* list = new std::vector<Tool>;
  return *list;
}

constexpr uint64_t kRuntimeVersion = 1;

}  // namespace

Tables::Tables() { reset(); }

void Tables::reset() {
  fill(core);
  fill(amd);
  fill(finalizer);
  fill(image);
  tools.hsa_amd_tool_scratch_event_alloc_start_fn = no_event;
  tools.hsa_amd_tool_scratch_event_alloc_end_fn = no_event;
  tools.hsa_amd_tool_scratch_event_free_start_fn = no_event;
  tools.hsa_amd_tool_scratch_event_free_end_fn = no_event;
  tools.hsa_amd_tool_scratch_event_async_reclaim_start_fn = no_event;
  tools.hsa_amd_tool_scratch_event_async_reclaim_end_fn = no_event;
  for (auto& entry : pc_sampling.slots) entry = no_pc_sampling;
  stamp(root, HSA_API_TABLE_MAJOR_VERSION, HSA_API_TABLE_STEP_VERSION);
  stamp(core, HSA_CORE_API_TABLE_MAJOR_VERSION, HSA_CORE_API_TABLE_STEP_VERSION);
  stamp(amd, HSA_AMD_EXT_API_TABLE_MAJOR_VERSION, HSA_AMD_EXT_API_TABLE_STEP_VERSION);
  stamp(finalizer, HSA_FINALIZER_API_TABLE_MAJOR_VERSION, HSA_FINALIZER_API_TABLE_STEP_VERSION);
  stamp(image, HSA_IMAGE_API_TABLE_MAJOR_VERSION, HSA_IMAGE_API_TABLE_STEP_VERSION);
  stamp(tools, HSA_TOOLS_API_TABLE_MAJOR_VERSION, HSA_TOOLS_API_TABLE_STEP_VERSION);
  stamp(pc_sampling, HSA_PC_SAMPLING_API_TABLE_MAJOR_VERSION, HSA_PC_SAMPLING_API_TABLE_STEP_VERSION);
  root.core_ = &core;
  root.amd_ext_ = &amd;
  root.finalizer_ext_ = &finalizer;
  root.image_ext_ = &image;
  root.tools_ = &tools;
  root.pc_sampling_ext_ = &pc_sampling;
}

Tables& tables() {
  static Tables* instance = new Tables;
  return *instance;
}

hsa_status_t unsupported(const char* function) {
  static std::mutex mutex;
  static auto* told = new std::set<std::string>;
  std::lock_guard lock(mutex);
  if (told->insert(function).second)
    std::fprintf(stderr, "rocm-perf: %s is not supported by the virtual GPU\n", function);
  return hsa_status_t(HSA_STATUS_ERROR_NOT_SUPPORTED);
}

// As ROCr does without rocprofiler-register: each library of HSA_TOOLS_LIB in turn, a failed one
// is closed and named to the next.
void load_tools() {
  const char* names = std::getenv("HSA_TOOLS_LIB");
  if (!names || !*names) return;
  std::vector<std::string> failed;
  std::istringstream list(names);
  for (std::string name; list >> name;) {
    void* library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
      std::fprintf(stderr, "rocm-perf: HSA_TOOLS_LIB: %s\n", dlerror());
      failed.push_back(name);
      continue;
    }
    using OnLoad = bool (*)(HsaApiTable*, uint64_t, uint64_t, const char* const*);
    std::vector<const char*> failed_names;
    for (const std::string& f : failed) failed_names.push_back(f.c_str());
    auto on_load = reinterpret_cast<OnLoad>(dlsym(library, "OnLoad"));
    if (on_load && !on_load(&tables().root, kRuntimeVersion, failed_names.size(), failed_names.data())) {
      std::fprintf(stderr, "rocm-perf: HSA_TOOLS_LIB: OnLoad of %s failed\n", name.c_str());
      failed.push_back(name);
      dlclose(library);
      continue;
    }
    tools().push_back({library, reinterpret_cast<void (*)()>(dlsym(library, "OnUnload"))});
  }
}

// Libraries stay mapped: their threads and the functions they put into tables may still be running.
void unload_tools() {
  for (auto tool = tools().rbegin(); tool != tools().rend(); ++tool)
    if (tool->on_unload) tool->on_unload();
  tools().clear();
}
