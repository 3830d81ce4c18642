// Kernels launched by AQL packets, checked against the same arithmetic on the host.
#include "hsa_machine.h"
#include "model/profiler.h"

namespace {

void vector_add(const char* object) {
  Machine m(object);
  constexpr uint32_t n = 10'007, block = 256;
  auto *a = m.allocate<float>(n), *b = m.allocate<float>(n), *c = m.allocate<float>(n);
  for (uint32_t i = 0; i < n; ++i) a[i] = float(i) * 0.25f, b[i] = 1.0f / float(i + 1);
  struct { float *a, *b, *c; uint32_t n, block; } arguments{a, b, c, n, block};
  m.run("vector_add", {(n + block - 1) / block * block}, {block}, arguments);
  for (uint32_t i = 0; i < n; ++i) CHECK(c[i] == a[i] + b[i]);
}

// A grid that no dimension of the workgroup divides: partial workgroups at every edge.
void identify(const char* object) {
  Machine m(object);
  constexpr uint32_t size[3] = {37, 11, 5}, block[3] = {16, 4, 3};
  auto* out = m.allocate<uint32_t>(size[0] * size[1] * size[2] * 8);
  struct { uint32_t* out; uint32_t width, height; } arguments{out, size[0], size[1]};
  m.run("identify", {size[0], size[1], size[2]}, {block[0], block[1], block[2]}, arguments);
  for (uint32_t z = 0; z < size[2]; ++z)
    for (uint32_t y = 0; y < size[1]; ++y)
      for (uint32_t x = 0; x < size[0]; ++x) {
        const uint32_t* r = out + ((z * size[1] + y) * size[0] + x) * 8;
        CHECK(r[0] == x % block[0] && r[1] == y % block[1] && r[2] == z % block[2]);
        CHECK(r[3] == x / block[0] && r[4] == y / block[1] && r[5] == z / block[2]);
        CHECK(r[6] == (block[0] | block[1] << 16) && r[7] == block[2] + 1);
      }
}

void block_sum(const char* object) {
  Machine m(object);
  for (uint32_t block : {64u, 128u, 256u, 1024u}) {
    const uint32_t n = 5000, groups = (n + block - 1) / block;
    auto *in = m.allocate<uint32_t>(n), *out = m.allocate<uint32_t>(groups);
    for (uint32_t i = 0; i < n; ++i) in[i] = i * 2654435761u;
    struct { uint32_t *in, *out; uint32_t n, block; } arguments{in, out, n, block};
    m.run("block_sum", {groups * block}, {block}, arguments);
    for (uint32_t g = 0; g < groups; ++g) {
      uint32_t sum = 0;
      for (uint32_t i = g * block; i < std::min(n, (g + 1) * block); ++i) sum += in[i];
      CHECK(out[g] == sum);
    }
  }
}

void grid_barrier_of(Machine& m, uint32_t groups, uint32_t sleep) {
  auto *arrived = m.allocate<uint32_t>(1), *out = m.allocate<uint32_t>(groups);
  struct { uint32_t *arrived, *out; uint32_t groups, sleep; } arguments{arrived, out, groups, sleep};
  m.run("grid_barrier", {groups * 128}, {128}, arguments);
  for (uint32_t g = 0; g < groups; ++g) CHECK(out[g] == groups * 2);
}
void grid_barrier(const char* object) {
  Machine m(object);
  grid_barrier_of(m, 200, 1);
  grid_barrier_of(m, 6, 0);  // without s_sleep: spins through its share each time
}

void spin_lock(const char* object) {
  Machine m(object);
  auto *lock = m.allocate<uint32_t>(1), *counter = m.allocate<uint32_t>(1);
  struct { uint32_t *lock, *counter; uint32_t rounds; } arguments{lock, counter, 10};
  m.run("spin_lock", {512}, {512}, arguments);
  CHECK(*counter == 8 * 10);
}

void private_memory(const char* object) {
  Machine m(object);
  constexpr uint32_t n = 500, block = 100;
  auto *in = m.allocate<uint32_t>(n), *out = m.allocate<uint32_t>(n);
  for (uint32_t i = 0; i < n; ++i) in[i] = i * i + 1;
  struct { uint32_t *in, *out; uint32_t n, block; } arguments{in, out, n, block};
  m.run("private_memory", {n}, {block}, arguments);
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 64; ++k) sum = sum * 31 + in[(i + ((k * 7 + i) & 63)) % n];
    CHECK(out[i] == sum);
  }
}

void globals(const char* object) {
  Machine m(object);
  auto* out = m.allocate<uint32_t>(3);
  struct { uint32_t* out; } arguments{out};
  for (uint32_t round = 0; round < 2; ++round) {
    m.run("use_globals", {1}, {1}, arguments);
    CHECK(out[0] == 7 + round && out[1] == 7 + round && out[2] == 3 + round);
  }
  const hsa_executable_symbol_t counter = m.symbol("device_counter");
  CHECK(m.about<hsa_symbol_kind_t>(counter, HSA_EXECUTABLE_SYMBOL_INFO_TYPE) == HSA_SYMBOL_KIND_VARIABLE);
  CHECK(m.about<uint32_t>(counter, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE) == 4);
  auto* address = reinterpret_cast<uint32_t*>(m.about<uint64_t>(counter, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS));
  CHECK(*address == 9);
  hsa_executable_symbol_t hidden;
  CHECK(hsa_executable_get_symbol_by_name(m.executable, "hidden_counter", &m.gpu, &hidden) == HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
}

// More packets than the ring holds, in order.
void many_launches(const char* object) {
  Machine m(object, 16);
  auto* out = m.allocate<uint32_t>(3);
  struct { uint32_t* out; } arguments{out};
  hsa_signal_t last{};
  for (int i = 0; i < 200; ++i) {
    last = m.launch("use_globals", {1}, {1}, arguments);
    if (i < 199) continue;
    OK(m.wait(last));
  }
  CHECK(out[0] == 7 + 199);
}

// A result copied by an engine: by the signal of the kernel that makes it, after a packet that waits for that
// signal, beside it.
enum class Copied { BySignal, ByBarrier, Beside };
void copied(const char* object, Copied how) {
  Machine m(object);
  constexpr uint32_t n = 1024, block = 256;
  auto *a = m.allocate<float>(n), *b = m.allocate<float>(n), *c = m.allocate<float>(n), *out = m.allocate<float>(n, m.host);
  struct { float *a, *b, *c; uint32_t n, block; } arguments{a, b, c, n, block};
  const hsa_signal_t made = m.launch("vector_add", {n}, {block}, arguments);
  hsa_signal_t passed{}, done;
  OK(hsa_signal_create(1, 0, nullptr, &passed));
  OK(hsa_signal_create(1, 0, nullptr, &done));
  const uint64_t index = hsa_queue_add_write_index_relaxed(m.queue, 1);
  auto* packet = static_cast<hsa_barrier_and_packet_t*>(m.queue->base_address) + (index & (m.queue->size - 1));
  std::memset(reinterpret_cast<char*>(packet) + 2, 0, sizeof *packet - 2);
  if (how == Copied::ByBarrier) packet->dep_signal[0] = made;
  packet->completion_signal = passed;
  __atomic_store_n(&packet->header, uint16_t(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE), __ATOMIC_RELEASE);
  hsa_signal_store_screlease(m.queue->doorbell_signal, hsa_signal_value_t(index));
  const hsa_signal_t after = how == Copied::BySignal ? made : passed;
  OK(hsa_amd_memory_async_copy(out, m.cpu, c, m.gpu, n * sizeof *c, 1, &after, done));
  OK(m.wait(done));
  OK(m.wait(made));
  OK(m.wait(passed));
}
void copied_by_signal(const char* object) { copied(object, Copied::BySignal); }
void copied_by_barrier(const char* object) { copied(object, Copied::ByBarrier); }
void copied_beside(const char* object) { copied(object, Copied::Beside); }

// ---- faults: each ends with the status the queue's callback got --------------------------------

[[noreturn]] void finish(Machine& m, hsa_signal_t done, int expected) {
  const int status = int(m.wait(done));
  std::printf("status %#x\n", unsigned(status));
  std::fflush(stdout);
  _exit(status == expected ? 0 : 1);
}

struct StoreAt { uint32_t* p; uint64_t bytes; };

void fault_past_end(const char* object) {
  Machine m(object);
  auto* p = m.allocate<uint32_t>(100);
  finish(m, m.launch("store_at", {64}, {64}, StoreAt{p, 60 * 4}), HSA_STATUS_ERROR_MEMORY_FAULT);
}
void fault_far(const char* object) {
  Machine m(object);
  auto* p = m.allocate<uint32_t>(100);
  finish(m, m.launch("store_at", {1}, {1}, StoreAt{p, uint64_t{1} << 40}), HSA_STATUS_ERROR_MEMORY_FAULT);
}
void fault_freed(const char* object) {
  Machine m(object);
  auto* p = m.allocate<uint32_t>(1000);
  OK(hsa_amd_memory_pool_free(p));
  finish(m, m.launch("store_at", {1}, {1}, StoreAt{p, 400}), HSA_STATUS_ERROR_MEMORY_FAULT);
}
void fault_null(const char* object) {
  Machine m(object);
  auto* out = m.allocate<uint32_t>(1);
  struct { uint32_t* p; uint64_t bytes; uint32_t* out; } arguments{nullptr, 0, out};
  finish(m, m.launch("load_at", {1}, {1}, arguments), HSA_STATUS_ERROR_MEMORY_FAULT);
}
void fault_read_only(const char* object) {
  Machine m(object);
  const auto code = m.about<uint64_t>(m.symbol("trap.kd"), HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
  finish(m, m.launch("store_at", {1}, {1}, StoreAt{reinterpret_cast<uint32_t*>(code), 0}), HSA_STATUS_ERROR_MEMORY_FAULT);
}
void fault_lds(const char* object) {
  Machine m(object);
  auto* out = m.allocate<uint32_t>(1);
  struct { uint32_t* out; uint32_t index; } arguments{out, 5000};
  finish(m, m.launch("lds_past_end", {64}, {64}, arguments), HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION);
}
void fault_trap(const char* object) {
  Machine m(object);
  finish(m, m.launch("trap", {1}, {1}, 0), HSA_STATUS_ERROR_EXCEPTION);
}
void fault_endless(const char* object) {
  Machine m(object);
  auto* p = m.allocate<uint32_t>(1);
  struct { uint32_t* p; } arguments{p};
  finish(m, m.launch("endless", {1}, {1}, arguments), HSA_STATUS_ERROR_EXCEPTION);
}
void fault_barrier(const char* object) {
  Machine m(object);
  auto* p = m.allocate<uint32_t>(128);
  struct { uint32_t* p; } arguments{p};
  finish(m, m.launch("skip_barrier", {128}, {128}, arguments), HSA_STATUS_ERROR_EXCEPTION);
}
void fault_instruction(const char* object) {
  Machine m(object);
  finish(m, m.launch("unknown_instruction", {1}, {1}, 0), HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
}
void refuse_workgroup(const char* object) {
  Machine m(object);
  finish(m, m.launch("trap", {2048}, {2048}, 0), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}
void early_return(const char* object) {
  Machine m(object);
  auto* p = m.allocate<uint32_t>(256);
  struct { uint32_t* p; uint32_t n; } arguments{p, 70};
  m.run("early_return", {256}, {256}, arguments);
  for (int i = 0; i < 256; ++i) CHECK(p[i] == (i < 70 ? 2u : 0u));
}
void uneven_rounds(const char* object) {
  Machine m(object);
  auto* p = m.allocate<uint32_t>(256);
  struct { uint32_t* p; } arguments{p};
  m.run("uneven_rounds", {256}, {256}, arguments);
  for (uint32_t i = 0; i < 256; ++i) CHECK(p[i] == 2 * (i / 64 + 1));
}
void return_after_lds(const char* object) {
  Machine m(object);
  auto* p = m.allocate<uint32_t>(256);
  struct { uint32_t* p; uint32_t n; } arguments{p, 128};
  m.run("return_after_lds", {256}, {256}, arguments);
  for (uint32_t i = 0; i < 256; ++i) CHECK(p[i] == (i < 128 ? 127 - i : 0u));
}

// A profiler of an older kind is refused unread, and the one before it stays.
void old_profiler(const char* object) {
  Machine m(object);
  struct Heard { int wanted = 0, done = 0; } first, second;
  const auto want = [](const rocm_perf_dispatch*, rocm_perf_wanted* wanted, void* user) {
    ++static_cast<Heard*>(user)->wanted;
    wanted->timing = 1;
  };
  const auto done = [](const rocm_perf_dispatch*, const rocm_perf_profile* profile, void* user) {
    static_cast<Heard*>(user)->done += profile->ok && profile->duration_ns > 0;
  };
  const auto launch = [&] {
    auto* p = m.allocate<uint32_t>(256);
    struct { uint32_t* p; uint32_t n; } arguments{p, 70};
    m.run("early_return", {256}, {256}, arguments);
  };
  const rocm_perf_profiler whole{sizeof whole, want, done, &first};
  CHECK(hsa_rocm_perf_set_profiler(&whole) == 0);
  launch();
  CHECK(first.wanted == 1 && first.done == 1);
  // Nothing behind the size may be read: the rest of an older one is not there.
  for (size_t size : {size_t(0), sizeof(size_t), sizeof(rocm_perf_profiler) - 1}) {
    auto* short_one = static_cast<rocm_perf_profiler*>(std::malloc(std::max(size, sizeof(size_t))));
    short_one->size = size;
    CHECK(hsa_rocm_perf_set_profiler(short_one) != 0);
    std::free(short_one);
  }
  launch();
  CHECK(first.wanted == 2 && first.done == 2);
  // One of a newer kind has all that is asked for.
  struct { rocm_perf_profiler known; void* more; } newer{{sizeof newer, want, done, &second}, nullptr};
  CHECK(hsa_rocm_perf_set_profiler(&newer.known) == 0);
  launch();
  CHECK(first.wanted == 2 && second.wanted == 1 && second.done == 1);
  CHECK(hsa_rocm_perf_set_profiler(nullptr) == 0);
  launch();
  CHECK(second.wanted == 1 && second.done == 1);
}

}  // namespace

int main(int count, char** words) {
  return run_case({{"vector_add", vector_add}, {"identify", identify}, {"block_sum", block_sum}, {"grid_barrier", grid_barrier},
                   {"spin_lock", spin_lock}, {"private_memory", private_memory}, {"globals", globals}, {"many_launches", many_launches},
                   {"copied_by_signal", copied_by_signal}, {"copied_by_barrier", copied_by_barrier}, {"copied_beside", copied_beside},
                   {"early_return", early_return}, {"uneven_rounds", uneven_rounds}, {"return_after_lds", return_after_lds},
                   {"fault_past_end", fault_past_end}, {"fault_far", fault_far}, {"fault_freed", fault_freed},
                   {"fault_null", fault_null}, {"fault_read_only", fault_read_only}, {"fault_lds", fault_lds}, {"fault_trap", fault_trap},
                   {"fault_endless", fault_endless}, {"fault_barrier", fault_barrier}, {"fault_instruction", fault_instruction},
                   {"refuse_workgroup", refuse_workgroup}, {"old_profiler", old_profiler}},
                  count, words);
}
