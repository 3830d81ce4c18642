// What a runtime calls: OnLoad and OnUnload for HSA_TOOLS_LIB, rocprofiler_configure for
// rocprofiler's registration.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>

#include "code.h"
#include "memory.h"
#include "output.h"
#include "queues.h"
#include "tables.h"

namespace capture {

namespace {

std::atomic<bool> loaded{false}, counted{false};

bool load(HsaApiTable* table) {
  static Config wanted;
  if (!table || !read_config(wanted)) return true;
  if (loaded.exchange(true)) return true;  // the other way in was first
  std::string why;
  if (!adopt(table, why)) {
    append_line("problem", "version " + hex(why));
    std::fprintf(stderr, "rocm-perf capture: %s\n", why.c_str());
    return false;
  }
  hook_memory();
  hook_code();
  hook_queues();
  append_line("status", "loaded");
  return true;
}

// How often each kernel was launched, for who asked for one that never was.
void write_counts() {
  if (!loaded || counted.exchange(true)) return;
  for (const auto& [name, count] : launch_counts()) append_line("counts", std::to_string(count) + " " + hex(name));
}

__attribute__((destructor)) void at_exit() { write_counts(); }

void on_table(int, uint64_t, uint64_t, void** tables, uint64_t count, void*) {
  if (count) load(static_cast<HsaApiTable*>(tables[0]));
}

}  // namespace

}  // namespace capture

#define RPL_EXPORT __attribute__((visibility("default")))

extern "C" {

RPL_EXPORT bool OnLoad(HsaApiTable* table, uint64_t, uint64_t, const char* const*) { return capture::load(table); }

RPL_EXPORT void OnUnload() { capture::write_counts(); }

// rocprofiler-sdk is not needed to build this: the one function is found in the process.
RPL_EXPORT void* rocprofiler_configure(uint32_t, const char*, uint32_t, void*) {
  using Callback = void (*)(int, uint64_t, uint64_t, void**, uint64_t, void*);
  using Register = int (*)(Callback, int, void*);
  constexpr int kHsaTable = 1;  // ROCPROFILER_HSA_TABLE
  if (auto* at = reinterpret_cast<Register>(dlsym(RTLD_DEFAULT, "rocprofiler_at_intercept_table_registration")))
    at(capture::on_table, kHsaTable, nullptr);
  return nullptr;
}
}
