#include "tiers.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "blocks.h"
#include "request.h"
#include "word_hash.h"

namespace gpu::translate {
namespace {

// Instructions of a kernel after which it is worth a look at the cache, and how often it is looked at after.
constexpr uint64_t kFirstLook = 500'000, kNextLook = 5'000'000;
// What a translation costs, in instructions that could have been interpreted meanwhile: so much for the
// compiler's start, and for each instruction. A kernel that has run as long will run as long again.
constexpr uint64_t kStartCost = 20'000'000, kInstructionCost = 40'000;
constexpr size_t kAtOnce = 1;

std::string hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

}  // namespace

class Kernel {
 public:
  Kernel(Program& the_program, uint64_t at) : program(the_program), entry(at) {}
  enum class State { Cold, Known, Underway, Ready, Done };
  Program& program;
  const uint64_t entry;
  std::atomic<uint64_t> instructions{0}, next_look{kFirstLook};
  State state = State::Cold;  // under the lock, as is the rest
  std::string request, target;
  uint64_t worth = 0;
  Translation translation;
  std::unique_ptr<Library> library;
};

Tiers::Tiers() : translator_(variable("ROCM_PERF_TRANSLATOR")), folder_(variable("ROCM_PERF_TRANSLATIONS")) {
  const std::string asked = variable("ROCM_PERF_VIRTUAL_TRANSLATE");
  if (asked == "off" || translator_.empty() || folder_.empty()) return;
  mode_ = asked == "always" ? Mode::Always : Mode::On;
}

// A translation that nobody waits for any more goes on: the next run finds its result.
Tiers::~Tiers() = default;

Kernel* Tiers::kernel(Program& program, uint64_t entry) {
  if (mode_ == Mode::Off) return nullptr;
  std::lock_guard lock(mutex_);
  auto& found = kernels_[{program.serial(), entry}];
  if (!found) {
    found = std::make_unique<Kernel>(program, entry);
    if (mode_ == Mode::Always) {
      look(*found);
      if (found->state == Kernel::State::Underway) {
        found->translation.wait();
        look(*found);
      }
    }
  }
  return found.get();
}

void Tiers::ran(Kernel* kernel, uint64_t instructions) {
  if (!kernel) return;
  const uint64_t now = kernel->instructions.fetch_add(instructions, std::memory_order_relaxed) + instructions;
  if (now < kernel->next_look.load(std::memory_order_relaxed)) return;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) look(*kernel);
}

void Tiers::load(Kernel& kernel) {
  kernel.library = Library::open(kernel.target);
  if (kernel.library) kernel.library->install(kernel.program, kernel.entry);
}

void Tiers::look(Kernel& kernel) {
  using State = Kernel::State;
  const uint64_t now = kernel.instructions.load(std::memory_order_relaxed);
  if (kernel.state == State::Cold) {
    kernel.request = describe(kernel.program, kernel.entry);
    const size_t lines = size_t(std::count(kernel.request.begin(), kernel.request.end(), '\n'));
    kernel.worth = kStartCost + kInstructionCost * lines;
    const uint64_t first = word_hash(kernel.request.data(), kernel.request.size());
    const uint64_t second = word_hash(kernel.request.data(), kernel.request.size(), ~first);
    kernel.target = folder_ + '/' + hex(first) + hex(second) + ".so";
    load(kernel);
    kernel.state = kernel.library || kernel.request.empty() ? State::Done : State::Known;
  }
  std::erase_if(underway_, [](Kernel* other) {
    if (other->translation.ended()) other->state = State::Ready;
    return other->state == State::Ready;
  });
  if (kernel.state == State::Known && (now >= kernel.worth || mode_ == Mode::Always) && underway_.size() < kAtOnce) {
    kernel.translation = Translation::begin(translator_, kernel.request, kernel.target);
    kernel.state = kernel.translation.running() ? State::Underway : State::Done;
    if (kernel.translation.running()) underway_.push_back(&kernel);
  } else if (kernel.state == State::Ready) {
    load(kernel);
    kernel.state = State::Done;
  }
  if (kernel.state == State::Done) kernel.request.clear();
  kernel.next_look = kernel.state == State::Done ? ~uint64_t{0} : now + kNextLook;
}

}  // namespace gpu::translate
