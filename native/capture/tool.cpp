// What a runtime calls: OnLoad and OnUnload for HSA_TOOLS_LIB, rocprofiler_configure for
// rocprofiler's registration.
#include "tool.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>

namespace capture {

namespace {

std::atomic<Tool*> only{nullptr};

bool load(HsaApiTable* table) {
  std::optional<Config> wanted = read_config();
  if (!table || !wanted) return true;
  auto* made = new Tool(std::move(*wanted));
  if (Tool* none = nullptr; !only.compare_exchange_strong(none, made)) {
    delete made;  // the other way in was first
    return true;
  }
  std::string why;
  if (!made->tables.adopt(table, why)) {
    made->output.append_line("problem", "version " + hex(why));
    std::fprintf(stderr, "rocm-perf capture: %s\n", why.c_str());
    return false;
  }
  MemoryBooks::hook();
  CodeBooks::hook();
  Queues::hook();
  made->output.append_line("status", "loaded");
  return true;
}

// How often each kernel was launched, for who asked for one that never was. At the end of the runtime or of
// the process, whichever comes first.
void write_counts() {
  static std::atomic<bool> written{false};
  if (!only || written.exchange(true)) return;
  for (const auto& [name, count] : tool().code.launch_counts())
    tool().output.append_line("counts", std::to_string(count) + " " + hex(name));
}

__attribute__((destructor)) void at_exit() { write_counts(); }

void on_table(int, uint64_t, uint64_t, void** tables, uint64_t count, void*) {
  if (count) load(static_cast<HsaApiTable*>(tables[0]));
}

}  // namespace

Tool& tool() { return *only; }

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
