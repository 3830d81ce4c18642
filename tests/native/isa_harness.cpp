// A C ABI for the tests: one wave with its registers, LDS, scratch and memory set from outside,
// run over code that a test assembled.
#include <cstring>
#include <memory>
#include <vector>

#include "exec.h"
#include "translate/blocks.h"
#include "translate/request.h"

#define API extern "C" __attribute__((visibility("default")))

namespace {

struct Harness {
  std::unique_ptr<gpu::Wave> wave = std::make_unique<gpu::Wave>();
  gpu::AddressSpace::Snapshot memory;
  std::vector<uint8_t> lds, scratch;
  std::vector<uint32_t> code;
  std::unique_ptr<gpu::Program> program;
};

class Recorder final : public gpu::Observer {
 public:
  struct Entry {
    uint64_t pc, exec, mask, first;
    uint32_t space, size;
  };
  std::vector<Entry> entries;
  void executed(const gpu::Wave&, const gpu::Inst& i, uint64_t exec, const gpu::MemAccess& a) override {
    const uint64_t first = a.space != gpu::Space::None && a.mask ? a.address[__builtin_ctzll(a.mask)] : 0;
    entries.push_back({i.pc, exec, a.space == gpu::Space::None ? 0 : a.mask, first, uint32_t(a.space),
                       a.space == gpu::Space::None ? 0u : a.size});
  }
};

}  // namespace

API Harness* isa_new(const char* isa, const uint32_t* code, size_t words, uint32_t vgprs, uint32_t agprs,
                     uint32_t lds_bytes, uint32_t scratch_bytes) {
  gpu::Arch arch;
  if (!gpu::arch_of(isa, arch)) return nullptr;
  auto* h = new Harness;
  h->code.assign(code, code + words);
  const auto base = reinterpret_cast<uint64_t>(h->code.data());
  h->program = std::make_unique<gpu::Program>(base, base + 4 * words, arch);
  h->lds.resize(lds_bytes + 64);
  h->scratch.resize(size_t(scratch_bytes) * 64);
  gpu::Wave& w = *h->wave;
  gpu::reset(w);
  std::memset(w.vgpr, 0, sizeof w.vgpr);
  w.pc = base;
  w.vgpr_count = uint16_t(vgprs + agprs);
  w.acc_offset = uint16_t(vgprs);
  w.memory = &h->memory;
  w.lds = h->lds.data();
  w.lds_bytes = w.lds_taken = lds_bytes;
  w.lds_zeros = 64;
  w.scratch = h->scratch.data();
  w.scratch_bytes_per_lane = scratch_bytes;
  w.shared_aperture = uint64_t(1) << 48 << 4;
  w.private_aperture = uint64_t(2) << 48 << 4;
  return h;
}
API void isa_free(Harness* h) { delete h; }
API void isa_map(Harness* h, uint64_t base, uint64_t bytes, int writable) {
  gpu::Range r;
  r.base = base, r.end = base + bytes, r.writable = writable;
  auto& v = h->memory.ranges;
  auto it = v.begin();
  while (it != v.end() && it->base < base) ++it;
  v.insert(it, r);
  h->wave->ranges = {};
}
API uint32_t* isa_vgprs(Harness* h) { return &h->wave->vgpr[0][0]; }
API uint32_t* isa_sgprs(Harness* h) { return h->wave->sgpr; }
API uint8_t* isa_lds(Harness* h) { return h->lds.data(); }
API uint8_t* isa_scratch(Harness* h) { return h->scratch.data(); }
API uint32_t* isa_mode(Harness* h) { return &h->wave->mode; }
API uint8_t* isa_scc(Harness* h) { return &h->wave->scc; }
API uint64_t isa_pc_offset(Harness* h) { return h->wave->pc - h->program->base(); }
API int isa_run(Harness* h, uint64_t budget) { return int(gpu::run_wave(*h->wave, *h->program, budget)); }
API uint64_t isa_observe(Harness* h, uint64_t budget, Recorder::Entry* out, uint64_t room) {
  Recorder r;
  gpu::run_wave_observed(*h->wave, *h->program, budget, r);
  for (size_t n = 0; n < r.entries.size() && n < room; ++n) out[n] = r.entries[n];
  return r.entries.size();
}
API void isa_fault(Harness* h, uint64_t out[6]) {
  const gpu::Fault& f = h->wave->fault;
  out[0] = uint64_t(f.kind), out[1] = f.pc - h->program->base(), out[2] = f.address, out[3] = f.size, out[4] = f.lane,
  out[5] = f.write;
}
API uint64_t isa_count(Harness* h, const char* name) {
  for (int n = 0; n < gpu::kClassCount + 7; ++n)
    if (!std::strcmp(gpu::class_names[n], name)) return h->wave->counts[n];
  return ~uint64_t(0);
}
API unsigned isa_disassemble(const char* isa, const void* code, size_t bytes, char* out, size_t room) {
  return rpl_disassemble(isa, code, bytes, 0, out, room);
}
API uint64_t isa_executed(Harness* h) { return h->wave->executed; }
// What the translator is told of the code; its length, also where `room` is too little.
API size_t isa_describe(Harness* h, char* out, size_t room) {
  const std::string text = gpu::translate::describe(*h->program, h->program->base());
  if (text.size() < room) std::memcpy(out, text.c_str(), text.size() + 1);
  return text.size();
}
// Runs the translated code from now on; how many blocks there are.
API size_t isa_install(Harness* h, const char* path) {
  const auto library = gpu::translate::Library::open(path);
  return library ? library->install(*h->program, h->program->base()) : 0;
}
API const uint64_t* isa_counts(Harness* h) { return h->wave->counts; }
API void isa_restart(Harness* h) { h->wave->pc = h->program->base(); }
