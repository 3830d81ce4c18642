#include "recorder.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "gpu/model/profiler.h"
#include "log.h"

namespace record {

namespace {

uint64_t (*hip_correlation)() = nullptr;
uint64_t (*hip_stream)() = nullptr;

void enter(const hip_api_call* call, void*) {
  Line line("enter");
  line.number("t", thread_id()).number("c", call->correlation_id).string("n", call->name);
  line.number("b", call->start_ns).open("a", '[');
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

void leave(const hip_api_call* call, void*) {
  Line line("exit");
  line.number("t", thread_id()).number("c", call->correlation_id).integer("v", call->result);
  line.number("e", call->end_ns).write();
}

uint64_t reserved(const rocm_perf_dispatch* dispatch) {
  return static_cast<const hsa_kernel_dispatch_packet_t*>(dispatch->packet)->reserved2;
}

const std::vector<const char*>& counter_names() {
  // Never destroyed, as nothing here is: a program may end before its kernels do.
  static const auto* names = [] {
    auto* all = new std::vector<const char*>;
    for (const std::string& name : config().counter_names) all->push_back(name.c_str());
    return all;
  }();
  return *names;
}

void want(const rocm_perf_dispatch* dispatch, rocm_perf_wanted* wanted, void*) {
  const uint64_t word = reserved(dispatch);
  wanted->timing = true;
  wanted->counters = (word & kWantCounters) != 0;
  wanted->only = counter_names().data();
  wanted->only_count = counter_names().size();
  wanted->att = (word & kWantAtt) != 0;
  wanted->att_select = {config().se_mask, config().target_cu, config().simd_mask};
}

void log_counters(Line& line, std::span<const rocm_perf_counter> counters) {
  std::string_view current;
  line.open("counters", '{');
  for (const rocm_perf_counter& value : counters) {
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

// A wave's lists are flat, a fixed number of fields per entry.
void log_wave(uint64_t number, const rocm_perf_wave& wave) {
  Line line("wave");
  line.number("d", number).number("se", wave.shader_engine).number("cu", wave.cu).number("simd", wave.simd);
  line.number("slot", wave.slot).number("begin", wave.begin).number("end", wave.end);
  line.open("insts", '[');
  for (const rocm_perf_instruction& i : std::span(wave.instructions, wave.instruction_count)) {
    line.append_number(i.time);
    line.append_number(i.category);
    line.append_number(i.stall);
    line.append_number(i.duration);
    line.append_number(i.pc);
  }
  line.close(']').open("states", '[');
  for (const rocm_perf_state& state : std::span(wave.timeline, wave.timeline_count)) {
    line.append_number(state.state);
    line.append_number(state.duration);
  }
  line.close(']').open("waits", '[');
  for (const rocm_perf_wait& wait : std::span(wave.waits, wave.wait_count)) {
    line.comma();
    line.append('[');
    line.append_number(wait.pc);
    for (uint64_t pc : std::span(wait.waited_for, wait.waited_for_count)) line.append_number(pc);
    line.append(']');
  }
  line.close(']').write();
}

void log_occupancy(uint64_t number, std::span<const rocm_perf_occupancy> rows) {
  Line line("occupancy");
  line.number("d", number).open("rows", '[');
  for (const rocm_perf_occupancy& row : rows) {
    for (uint64_t field : {row.time, uint64_t(row.shader_engine), uint64_t(row.cu), uint64_t(row.simd),
                           uint64_t(row.slot), uint64_t(row.start)})
      line.append_number(field);
  }
  line.close(']').write();
}

void done(const rocm_perf_dispatch* dispatch, const rocm_perf_profile* profile, void*) {
  const uint64_t word = reserved(dispatch), number = word & kNumber;
  Line line("done");
  line.number("d", number).number("ns", profile->duration_ns).number("cycles", profile->cycles);
  line.real("mhz", profile->clock_mhz).real("detail", profile->detailed_fraction);
  line.real("sampling", profile->sampling_error);
  line.number("cus", profile->compute_units_used).number("ok", profile->ok);
  line.number("waves", profile->launched_waves).number("insts", profile->wave_instructions);
  if (word & kWantCounters) log_counters(line, {profile->counters, profile->counter_count});
  line.write();
  if (!(word & kWantAtt)) return;
  for (const rocm_perf_wave& wave : std::span(profile->waves, profile->wave_count)) log_wave(number, wave);
  log_occupancy(number, {profile->occupancy, profile->occupancy_count});
}

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
  static const rocm_perf_profiler profiler{sizeof profiler, record::want, record::done, nullptr};
  // Only the virtual GPU's HSA has it. False would have this library unloaded, which other calls already hook.
  auto* set =
      reinterpret_cast<decltype(&hsa_rocm_perf_set_profiler)>(dlsym(RTLD_DEFAULT, "hsa_rocm_perf_set_profiler"));
  if (set && set(&profiler) != 0)
    std::fputs("rocm-perf: libhsa-runtime64 is of another version than the recorder: no kernel is recorded\n", stderr);
  else record::hook_tables(table);
  return true;
}
}
