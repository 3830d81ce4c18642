#include "recorder.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "gpu.h"
#include "log.h"
#include "model/dispatch_profile.h"

namespace record {

namespace {

uint64_t (*hip_correlation)() = nullptr;
uint64_t (*hip_stream)() = nullptr;

void enter(const hip_api_call* call, void*) {
  Line line("enter");
  line.number("t", thread_id()).number("c", call->correlation_id).string("n", call->name).open("a", '[');
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    const hip_api_argument& argument = call->arguments[i];
    char text[512];
    argument.format(argument.value, text, sizeof text);
    line.comma();
    line.append('[');
    line.append_string(argument.type);
    line.append_string(argument.name);
    line.append_string(text);
    line.append(']');
  }
  line.close(']').write();
}

// The handle that a call makes comes back through its first argument.
bool makes_handle(std::string_view name) {
  for (const std::string_view known : {"hipStreamCreate", "hipExtStreamCreate", "hipEventCreate"})
    if (name.substr(0, known.size()) == known) return true;
  return false;
}

void leave(const hip_api_call* call, void*) {
  Line line("exit");
  line.number("t", thread_id()).number("c", call->correlation_id).integer("v", call->result).open("o", '{');
  if (call->result == 0 && call->argument_count > 0 && makes_handle(call->name)) {
    const hip_api_argument& argument = call->arguments[0];
    if (const void* const* out = *static_cast<void** const*>(argument.value))
      line.number(argument.name, reinterpret_cast<uint64_t>(*out));
  }
  line.close('}').write();
}

class Models final : public gpu::Profiler {
 public:
  gpu::ProfileRequest want(const gpu::DispatchRequest& request, std::string_view) override {
    const uint64_t word = reserved(request);
    gpu::ProfileRequest wanted;
    wanted.timing = true;
    wanted.counters = word & kWantCounters;
    wanted.only = &config().counter_names;
    wanted.att = word & kWantAtt;
    wanted.att_select = {config().target_cu, config().se_mask, config().simd_mask};
    return wanted;
  }

  void done(const gpu::DispatchRequest& request, std::string_view, const gpu::DispatchResult& result,
            const gpu::DispatchProfile& profile) override {
    const uint64_t word = reserved(request);
    Line line("done");
    line.number("d", word & kNumber).number("ns", profile.duration_ns).number("cycles", profile.cycles);
    line.real("mhz", profile.clock_mhz).real("detail", profile.detailed_fraction);
    line.number("cus", profile.compute_units_used).number("ok", result.ok);
    line.number("waves", result.waves).number("insts", result.wave_instructions);
    if (word & kWantCounters) counters(line, profile);
    line.write();
    if (word & kWantAtt) trace(word & kNumber, profile);
  }

 private:
  static uint64_t reserved(const gpu::DispatchRequest& request) {
    return reinterpret_cast<const hsa_kernel_dispatch_packet_t*>(request.packet_address)->reserved2;
  }

  static void counters(Line& line, const gpu::DispatchProfile& profile) {
    std::string_view current;
    line.open("counters", '{');
    for (const gpu::CounterValue& value : profile.counters) {
      const std::string_view name = value.name;
      if (name != current) {
        if (!current.empty()) line.append(']');
        line.open(name, '[');
        current = name;
      }
      line.comma();
      line.append('[');
      line.append_number(value.xcc);
      line.append_number(value.shader_engine);
      line.append_number(value.instance);
      line.append_real(value.value);
      line.append(']');
    }
    if (!current.empty()) line.append(']');
    line.close('}');
  }

  // Waves and occupancy; a wave's lists are flat, a fixed number of fields per entry.
  static void trace(uint64_t number, const gpu::DispatchProfile& profile) {
    for (const gpu::AttWave& wave : profile.waves) {
      Line line("wave");
      line.number("d", number).number("se", wave.shader_engine).number("cu", wave.cu).number("simd", wave.simd);
      line.number("slot", wave.slot).number("begin", wave.begin).number("end", wave.end);
      line.open("insts", '[');
      for (const gpu::AttInstruction& i : wave.instructions) {
        line.append_number(i.time);
        line.append_number(i.category);
        line.append_number(i.stall);
        line.append_number(i.duration);
        line.append_number(i.pc);
      }
      line.close(']').open("states", '[');
      for (const gpu::AttState& state : wave.timeline) {
        line.append_number(state.state);
        line.append_number(state.duration);
      }
      line.close(']').open("waits", '[');
      for (const gpu::AttWait& wait : wave.waits) {
        line.comma();
        line.append('[');
        line.append_number(wait.pc);
        for (uint64_t pc : wait.waited_for) line.append_number(pc);
        line.append(']');
      }
      line.close(']').write();
    }
    Line line("occupancy");
    line.number("d", number).open("rows", '[');
    for (const gpu::AttOccupancy& row : profile.occupancy) {
      for (uint64_t field : {row.time, uint64_t(row.shader_engine), uint64_t(row.cu), uint64_t(row.simd),
                             uint64_t(row.slot), uint64_t(row.start)})
        line.append_number(field);
    }
    line.close(']').write();
  }
};

}  // namespace

const Config& config() {
  static const Config* read = new Config(read_config(folder() + "/config"));
  return *read;
}

Selection& selection() {
  static Selection* made = new Selection(config());
  return *made;
}

uint64_t correlation() { return hip_correlation ? hip_correlation() : 0; }
uint64_t stream() { return hip_stream ? hip_stream() : 0; }

}  // namespace record

extern "C" {

// Called by libamdhip64 when it is loaded.
__attribute__((visibility("default"))) void rocm_perf_hip_tool(void (*set_hook)(const hip_api_hook*),
                                                               uint64_t (*correlation_id)(), uint64_t (*stream_id)()) {
  if (!record::start(std::getenv("ROCM_PERF_RECORD"))) return;
  record::hip_correlation = correlation_id;
  record::hip_stream = stream_id;
  static const hip_api_hook hook{record::enter, record::leave, nullptr};
  set_hook(&hook);
}

// Called by libhsa-runtime64 (HSA_TOOLS_LIB) when it is initialised.
__attribute__((visibility("default"))) bool OnLoad(HsaApiTable* table, uint64_t, uint64_t, const char* const*) {
  if (!record::start(std::getenv("ROCM_PERF_RECORD"))) return true;
  record::hook_tables(table);
  static record::Models models;
  if (auto set = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "hsa_rocm_perf_set_profiler")))
    set(static_cast<gpu::Profiler*>(&models));
  return true;
}
}
