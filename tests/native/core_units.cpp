// Laws of the virtual GPU's memory: what is listed, what was freed, what the arena gives out. And what is
// read of files: notes and names.
#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "arena.h"
#include "check.h"
#include "codeobject/kernel_names.h"
#include "codeobject/msgpack.h"
#include "memory.h"

namespace {

using gpu::Range;

// Against the plainest model there is: a list searched from end to end.
void address_space_agrees_with_a_list() {
  std::mt19937 random(1);
  gpu::AddressSpace space;
  std::map<uint64_t, Range> live;
  std::vector<Range> freed;
  uint64_t next = 0x10000;
  for (int step = 0; step < 3000; ++step) {
    if (live.size() < 3 || random() % 3) {
      const uint64_t base = next, size = 1 + random() % 5000;
      next += size + random() % 3 * 4096;
      const Range range{base, base + size, gpu::RangeKind::Vram, true, random() % 2 == 0};
      space.add(range);
      live[base] = range;
    } else {
      auto it = std::next(live.begin(), long(random() % live.size()));
      CHECK(space.remove(it->first));
      CHECK(!space.remove(it->first));
      freed.push_back(it->second);
      live.erase(it);
    }
    if (step % 10) continue;
    const auto snapshot = space.snapshot();
    CHECK(std::is_sorted(snapshot->ranges.begin(), snapshot->ranges.end(), [](auto& a, auto& b) { return a.end <= b.base && a.base < b.base; }));
    for (int probe = 0; probe < 50; ++probe) {
      const uint64_t address = 0xf000 + random() % (next - 0xe000);
      const Range* expected = nullptr;
      int64_t best = INT64_MAX;
      for (auto& [base, range] : live) {
        if (address >= range.base && address < range.end) expected = &range;
        const int64_t d = address < range.base ? int64_t(range.base - address) : address >= range.end ? int64_t(address - range.end) + 1 : 0;
        best = std::min(best, d);
      }
      const Range* found = snapshot->find(address);
      CHECK((found != nullptr) == (expected != nullptr));
      if (found) CHECK(found->base == expected->base && found->writable == expected->writable);
      const gpu::NearestRange near = space.nearest(address);
      const bool was_freed = !expected && std::any_of(freed.begin(), freed.end(), [&](auto& r) { return address >= r.base && address < r.end; });
      CHECK(near.found && near.freed == was_freed);
      if (!was_freed) CHECK(std::abs(std::abs(near.distance) - best) <= 1);
      else CHECK(near.distance == 0);
    }
  }
}

void a_snapshot_does_not_change_under_its_reader() {
  gpu::AddressSpace space;
  space.add({0x1000, 0x2000});
  const auto before = space.snapshot();
  std::thread writer([&] {
    for (uint64_t i = 0; i < 2000; ++i) space.add({0x100000 + i * 0x1000, 0x100000 + i * 0x1000 + 0x800});
    space.remove(0x1000);
  });
  for (int i = 0; i < 2000; ++i) {
    CHECK(before->find(0x1800) && !before->find(0x100000));
    space.snapshot()->find(0x100000);
  }
  writer.join();
  CHECK(before->find(0x1800) && !space.snapshot()->find(0x1800) && space.snapshot()->find(0x100000 + 1999 * 0x1000));
}

void overlapping_host_memory_is_listed_once() {
  gpu::AddressSpace space;
  space.add({0x1000, 0x3000});
  space.add({0x2000, 0x4000});
  const auto snapshot = space.snapshot();
  for (uint64_t address : {0x1000, 0x2800, 0x3fff}) CHECK(snapshot->find(address));
  CHECK(!snapshot->find(0x4000));
}

void the_arena_gives_zeroed_pieces_with_gaps_and_reuses_late() {
  gpu::Arena arena;
  std::mt19937 random(2);
  std::map<uint64_t, uint64_t> live;
  std::vector<uint64_t> released;
  for (int step = 0; step < 2000; ++step) {
    if (live.empty() || random() % 3) {
      const size_t size = 1 + random() % 200'000, alignment = size_t{1} << random() % 17;
      auto* at = static_cast<uint8_t*>(arena.allocate(size, alignment));
      CHECK(at && reinterpret_cast<uint64_t>(at) % alignment == 0);
      for (size_t i = 0; i < size; i += 997) CHECK(at[i] == 0);
      std::memset(at, 0xff, size);
      const uint64_t base = reinterpret_cast<uint64_t>(at);
      CHECK(std::find(released.begin(), released.end(), base) == released.end());
      auto after = live.lower_bound(base);
      if (after != live.end()) CHECK(base + size + 4096 <= after->first);
      if (after != live.begin()) CHECK(std::prev(after)->first + std::prev(after)->second + 4096 <= base);
      live[base] = size;
    } else {
      auto it = std::next(live.begin(), long(random() % live.size()));
      CHECK(arena.free(reinterpret_cast<void*>(it->first)));
      CHECK(!arena.free(reinterpret_cast<void*>(it->first)));
      released.push_back(it->first);
      live.erase(it);
    }
  }
  CHECK(!arena.allocate(size_t{1} << 60));
}

// However little is left, what was freed last is given out again last.
void a_freed_address_is_in_quarantine_while_others_are_free() {
  constexpr uint64_t kAll = uint64_t{16} << 20, kPiece = 60'000;
  gpu::Arena arena(kAll);
  void* kept = arena.allocate(kPiece);
  std::vector<void*> order;
  for (uint64_t i = 0; i < 5 * kAll / kPiece; ++i) {
    void* at = arena.allocate(kPiece);
    CHECK(at && at != kept);
    CHECK(*static_cast<uint8_t*>(at) == 0);
    std::memset(at, 1, kPiece);
    const auto earlier = std::find(order.rbegin(), order.rend(), at);
    if (earlier != order.rend()) CHECK(uint64_t(earlier - order.rbegin()) > kAll / (kPiece + 2 * gpu::kPage) - 4);
    order.push_back(at);
    CHECK(arena.free(at));
  }
  CHECK(arena.free(kept));
  CHECK(arena.allocate(kAll - gpu::kPage));  // free pieces have joined
}

long page_tables_kib() {
  long kib = 0;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return kib;  // their shadows have page tables too
#endif
  char line[256];
  FILE* file = std::fopen("/proc/self/status", "r");
  while (file && std::fgets(line, sizeof line, file))
    if (std::sscanf(line, "VmPTE: %ld", &kib) == 1) break;
  if (file) std::fclose(file);
  return kib;
}

void freed_memory_takes_no_page_tables() {
  gpu::Arena arena;
  for (const size_t size : {size_t{3000}, size_t{300'000}, size_t{5} << 20}) {
    const long before = page_tables_kib();
    std::vector<void*> live;
    for (int i = 0; i < 3000; ++i) {
      auto* at = static_cast<uint8_t*>(arena.allocate(size));
      CHECK(at);
      at[0] = at[size - 1] = 1;
      live.push_back(at);
      if (live.size() < 8) continue;
      CHECK(arena.free(live[size_t(i) % 8]));
      live.erase(live.begin() + i % 8);
    }
    for (void* at : live) CHECK(arena.free(at));
    CHECK(page_tables_kib() - before < 200);
  }
}

void the_latest_frees_are_known_and_no_more() {
  gpu::AddressSpace space;
  const auto at = [](uint64_t i) { return 0x10000 + i * 0x1000; };
  // The same piece again and again counts once.
  for (int i = 0; i < 100'000; ++i) {
    space.add({at(0), at(0) + 16});
    space.remove(at(0));
  }
  CHECK(space.nearest(at(0)).freed);
  constexpr uint64_t kMany = 50'000;
  for (uint64_t i = 0; i < kMany; ++i) {
    space.add({at(i), at(i) + 16});
    space.remove(at(i));
  }
  uint64_t known = 0;
  for (uint64_t i = 0; i < kMany; ++i) known += space.nearest(at(i)).freed;
  CHECK(known >= 1000 && known <= 10'000);
  CHECK(space.nearest(at(kMany - 1)).freed && space.nearest(at(kMany - known)).freed && !space.nearest(at(kMany - known - 1)).freed);
}

void msgpack_survives_every_short_input() {
  std::mt19937 random(3);
  for (int round = 0; round < 200'000; ++round) {
    uint8_t bytes[24];
    for (uint8_t& byte : bytes) byte = uint8_t(random());
    (void)codeobject::msgpack::parse({bytes, round % sizeof bytes});
  }
  const uint8_t map[] = {0x82, 0xa1, 'a', 0xcd, 0x12, 0x34, 0xa1, 'b', 0x93, 0xc3, 0xa2, 'h', 'i', 0xd0, 0x80};
  const auto value = codeobject::msgpack::parse(map);
  CHECK(value && value->number_at("a") == 0x1234 && value->get("b")->items.size() == 3);
  CHECK(value->get("b")->items[1].text == "hi" && value->get("b")->items[2].integer == -128);
}

void names_are_those_of_the_source() {
  const std::pair<const char*, const char*> names[] = {
      {"_Z1kPDF16b", "k(__bf16*)"},
      {"_Z1kIDF16bEvPT_S1_", "void k<__bf16>(__bf16*, __bf16*)"},
      {"_Z1kPKDF16bS0_DF16_", "k(__bf16 const*, __bf16 const*, _Float16)"},
      {"_Z6kernelIDF16bLi4EEvPKT_", "void kernel<__bf16, 4>(__bf16 const*)"},
      {"_ZN2ns6kDF16bEPDF16_", "ns::kDF16b(_Float16*)"},
      {"_Z5scaleIfEvPT_", "void scale<float>(float*)"},
      {"f", "f"},  // no type, though __cxa_demangle takes it for one
      {"plain", "plain"},
      {"_Z", "_Z"},
      {"_Z999999999999k", "_Z999999999999k"},
  };
  for (const auto& [symbol, name] : names) CHECK(codeobject::demangle(symbol) == name);
  const std::string longest = "_Z" + std::string(5000, 'N');
  CHECK(codeobject::demangle(longest) == longest);
  // Each part is twice the one before it: 2^35 times the first.
  std::string doubling = "_Z1fI1AIiE";
  for (const char n : std::string("123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    doubling += std::string("S0_IS") + n + "_S" + n + "_E";
  CHECK(codeobject::demangle(doubling + "Evv") == doubling + "Evv");
  const std::string pointers = "_Z1kIPfS0_S0_S0_S0_S0_S0_S0_S0_S0_EvT_S1_S1_S1_S1_S1_S1_S1_S1_T0_T1_T2_T3_T4_T5_";
  CHECK(codeobject::demangle(pointers).starts_with("void k<float*"));
  CHECK(codeobject::kernel_of("_Z1kPf.kd") == "_Z1kPf" && codeobject::kernel_of("k.kda") == "k.kda");
  std::mt19937 random(4);
  for (int round = 0; round < 50'000; ++round) {
    std::string symbol = "_Z";
    for (unsigned i = random() % 24; i > 0; --i) symbol += "DF16b_0123456789SLTANIEvPn"[random() % 26];
    CHECK(!codeobject::demangle(symbol).empty());
  }
}

void a_pattern_is_searched_for_in_names_of_any_length() {
  const auto found = [](const char* pattern, const std::string& name) {
    return codeobject::NamePattern(pattern).found_in(name);
  };
  CHECK(found("scale", "void scale<float>(float*)") && !found("^scale", "void scale<float>(float*)"));
  CHECK(found("^a|b$", "xyb") && found("^a|b$", "axy") && !found("^a|b$", "xay"));
  CHECK(found("", "k") && found("(ab)\\1", "xababx") && !found("(ab)\\1", "xabax"));
  for (const char* wrong : {"(", "a)(b", "*",
#ifdef __GLIBCXX__
                            "[z-a]",  // libc++ takes it, and finds nothing
#endif
       }) {
    bool refused = false;
    try {
      codeobject::NamePattern pattern(wrong);
    } catch (const std::regex_error&) { refused = true; }
    CHECK(refused);
  }
  // On a stack as small as a thread may have, and in time that grows with the name and no faster.
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 << 10);
  pthread_t thread;
  const auto search = [](void*) -> void* {
    const codeobject::NamePattern pattern("(a|b)*c$|(a+)+$");
    CHECK(!pattern.found_in(std::string(100'000, 'a') + "!"));
    return nullptr;
  };
  CHECK(pthread_create(&thread, &small, search, nullptr) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&small);
}

}  // namespace

int main() {
  address_space_agrees_with_a_list();
  a_snapshot_does_not_change_under_its_reader();
  overlapping_host_memory_is_listed_once();
  the_arena_gives_zeroed_pieces_with_gaps_and_reuses_late();
  a_freed_address_is_in_quarantine_while_others_are_free();
  freed_memory_takes_no_page_tables();
  the_latest_frees_are_known_and_no_more();
  msgpack_survives_every_short_input();
  names_are_those_of_the_source();
  a_pattern_is_searched_for_in_names_of_any_length();
  std::puts("core_units: ok");
}
