#include "capture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "codeobject/elf.h"
#include "hsa/amd_hsa_signal.h"
#include "snapshot.h"
#include "tool.h"

namespace capture {

namespace {

constexpr auto kPatience = std::chrono::seconds(3);

struct Agents {
  std::map<uint64_t, std::string> labels;
  std::string lines;
  unsigned gpus = 0, cpus = 0;
};

hsa_status_t on_isa(hsa_isa_t isa, void* data) {
  uint32_t length = 0;
  core().hsa_isa_get_info_alt_fn(isa, HSA_ISA_INFO_NAME_LENGTH, &length);
  std::string name(length, '\0');
  core().hsa_isa_get_info_alt_fn(isa, HSA_ISA_INFO_NAME, name.data());
  *static_cast<std::string*>(data) = name.c_str();
  return HSA_STATUS_INFO_BREAK;
}

hsa_status_t on_agent(hsa_agent_t agent, void* data) {
  auto& agents = *static_cast<Agents*>(data);
  hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
  core().hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_DEVICE, &type);
  char name[65] = {}, product[65] = {};
  core().hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_NAME, name);
  core().hsa_agent_get_info_fn(agent, hsa_agent_info_t(HSA_AMD_AGENT_INFO_PRODUCT_NAME), product);
  std::string isa;
  const bool gpu = type == HSA_DEVICE_TYPE_GPU;
  if (gpu) core().hsa_agent_iterate_isas_fn(agent, on_isa, &isa);
  const std::string label = gpu ? "gpu:" + std::to_string(agents.gpus++) : "cpu:" + std::to_string(agents.cpus++);
  agents.labels[agent.handle] = label;
  agents.lines += "agent " + label + " " + hex(name) + " " + hex(product) + " " + hex(isa) + "\n";
  return HSA_STATUS_SUCCESS;
}

std::string text(uint64_t value) { return " " + std::to_string(value); }

// Code objects, and what of their loaded images can be written: module variables, constants too.
struct Code {
  LoadedCode loaded;
  struct Segment {
    uint64_t linked;
    bool writable;
    Area area;
  };
  std::vector<Segment> segments;
};

std::vector<Code> code_parts(const std::string& place) {
  std::vector<Code> list;
  for (LoadedCode& loaded : tool().code.loaded()) {
    Code code{std::move(loaded), {}};
    if (!code.loaded.image) {
      tool().captures.note_problem("the file of a loaded code object could not be had: " + code.loaded.uri);
    } else {
      std::string error;
      const std::string& image = *code.loaded.image;
      const auto file = codeobject::elf::parse({reinterpret_cast<const uint8_t*>(image.data()), image.size()}, error);
      if (!file) tool().captures.note_problem("a loaded code object cannot be read: " + error);
      else
        for (const auto& load : file->loads) {
          if (load.execute || !load.memory_size) continue;
          Code::Segment segment{load.address, load.write, {}};
          segment.area.base = segment.area.read_at = load.address + uint64_t(code.loaded.delta);
          segment.area.size = load.memory_size;
          segment.area.agent = code.loaded.agent;
          const std::string stem =
              place + "code_objects/" + std::to_string(list.size()) + "." + std::to_string(code.segments.size());
          segment.area.before_name = stem + ".image.bin";
          segment.area.after_name = stem + ".after.bin";
          code.segments.push_back(std::move(segment));
        }
    }
    list.push_back(std::move(code));
  }
  return list;
}

class OneCapture {
 public:
  explicit OneCapture(const HeldLaunch& target)
      : target_(target), queue_(target.queue), packet_(target.packet), kernel_(*target.kernel) {
    code_ = code_parts(place());
    for (const Piece& piece : tool().memory.pieces()) {
      Region region{piece, {}};
      char name[32];
      std::snprintf(name, sizeof name, "region_%llx.bin", static_cast<unsigned long long>(piece.base));
      region.area.base = piece.base;
      region.area.size = piece.size;
      region.area.read_at = piece.read_at;
      region.area.agent = piece.agent;
      region.area.before_name = place() + "memory/" + name;
      region.area.after_name = place() + "memory_after/" + name;
      regions_.push_back(std::move(region));
      bytes_ += piece.size;
    }
    for (const Code& code : code_) bytes_ += code.loaded.image ? code.loaded.image->size() : 0;
  }

  uint64_t bytes() const { return bytes_; }
  size_t regions() const { return regions_.size(); }

  bool before() {
    for (const char* name : {"memory", "memory_after", "code_objects"})
      mkdir(tool().output.path(place() + name).c_str(), 0700);
    for (size_t i = 0; i < code_.size(); ++i) {
      if (!code_[i].loaded.image) continue;
      File file(tool().output, place() + "code_objects/" + std::to_string(i) + ".hsaco");
      file.write(code_[i].loaded.image->data(), code_[i].loaded.image->size());
      if (!file.close()) return false;
    }
    if (!read_arguments()) return false;
    std::vector<CodeRange> ranges;
    for (size_t i = 0; i < code_.size(); ++i)
      if (code_[i].loaded.size)
        ranges.push_back({code_[i].loaded.base, code_[i].loaded.base + code_[i].loaded.size, i});
    snapshot_ = std::make_unique<Snapshot>(std::move(ranges));
    return each([&](Area& area) { return snapshot_->before(area); });
  }

  bool after() {
    return each([&](Area& area) { return snapshot_->after(area); });
  }

  // All lines, under a name that says they are whole.
  bool write() {
    Agents agents;
    core().hsa_iterate_agents_fn(on_agent, &agents);
    const auto label = [&](uint64_t handle) {
      const auto found = agents.labels.find(handle);
      return found == agents.labels.end() ? std::string("-") : found->second;
    };
    std::string out = "version 1\n" + agents.lines;
    out += "packet " + hex({reinterpret_cast<const char*>(&packet_), sizeof packet_}) + "\n";
    out += "kernel " + hex(kernel_.name) + " " + hex(kernel_.demangled) + text(target_.index) + text(target_.number) +
           text(kernel_.kernarg_bytes) + " " + label(queue_.agent.handle) + "\n";
    out +=
        "queue" + text(queue_.type) + text(queue_.size) + text(queue_.private_bytes) + text(queue_.group_bytes) + "\n";
    for (size_t i = 0; i < snapshot_->files().size(); ++i)
      out += "file" + text(i) + " " + snapshot_->files()[i].substr(place().size()) + "\n";
    for (size_t i = 0; i < code_.size(); ++i) {
      const LoadedCode& loaded = code_[i].loaded;
      out += "code" + text(i) + text(loaded.base) + text(loaded.size) + " " + std::to_string(loaded.delta) + " " +
             label(loaded.agent) + " " + hex(loaded.uri) + text(loaded.image ? 1 : 0) + "\n";
      for (const Code::Segment& segment : code_[i].segments) {
        out += "segment" + text(segment.area.base) + text(segment.area.size) + text(segment.linked) +
               text(segment.writable) + " " + hex(segment.area.failure) + "\n";
        extents(out, segment.area);
      }
    }
    for (const Region& region : regions_) {
      out += "region" + text(region.piece.base) + text(region.piece.size) + " " + region.piece.kind + " " +
             label(region.piece.agent) + text(region.piece.flags) + " " + hex(region.area.failure) + "\n";
      extents(out, region.area);
    }
    for (const CodePointer& pointer : snapshot_->pointers())
      out += "pointer" + text(pointer.address) + text(pointer.value) + text(pointer.code) + "\n";
    out += "pointers" + text(snapshot_->pointer_count()) + "\n";
    out += tool().captures.take_notes();
    out += "end\n";
    File file(tool().output, place() + "native");
    file.write(out.data(), out.size());
    return file.close();
  }

 private:
  const std::string& place() const { return target_.want.place; }

  struct Region {
    Piece piece;
    Area area;
  };

  bool read_arguments() {
    // They may be in the device's memory.
    const uint64_t address = reinterpret_cast<uint64_t>(packet_.kernarg_address), size = kernel_.kernarg_bytes;
    uint64_t owner = 0;
    for (const Region& region : regions_)
      if (address >= region.piece.base && address < region.piece.base + region.piece.size) owner = region.piece.agent;
    Reader reader;
    std::vector<uint8_t> bytes(size);
    std::string failure;
    const uint8_t* data = !size                   ? nullptr
                          : size <= Reader::kMost ? reader.read(address, size, owner, failure)
                                                  : nullptr;
    if (data) std::memcpy(bytes.data(), data, size);
    else if (size) tool().captures.note_problem("the kernel's arguments could not be read: " + failure);
    File file(tool().output, place() + "kernarg.bin");
    file.write(bytes.data(), bytes.size());
    return file.close();
  }

  template <class Work>
  bool each(Work work) {
    for (Region& region : regions_)
      if (!work(region.area)) return false;
    for (Code& code : code_)
      for (Code::Segment& segment : code.segments)
        if (!work(segment.area)) return false;
    return true;
  }

  static void extents(std::string& out, const Area& area) {
    for (const auto& [list, kind] : {std::pair{&area.before, "b"}, {&area.after, "a"}})
      for (const Extent& extent : *list)
        out +=
            kind + text(extent.offset) + text(extent.size) + " " + std::to_string(extent.file) + text(extent.at) + "\n";
  }

  const HeldLaunch& target_;
  const Queue& queue_;
  const hsa_kernel_dispatch_packet_t& packet_;
  const Kernel& kernel_;
  std::vector<Region> regions_;
  std::vector<Code> code_;
  uint64_t bytes_ = 0;
  std::unique_ptr<Snapshot> snapshot_;
};

// As the device would have done it, times included.
void complete(hsa_signal_t theirs, hsa_signal_t ours) {
  if (!theirs.handle) return;
  const auto* from = reinterpret_cast<const amd_signal_t*>(ours.handle);
  auto* to = reinterpret_cast<amd_signal_t*>(theirs.handle);
  to->start_ts = from->start_ts;
  to->end_ts = from->end_ts;
  core().hsa_signal_subtract_screlease_fn(theirs, 1);
}

// A runtime may ring queues of its own when it copies, and inside a handler it must not: the writer
// would lose its place.
void elsewhere(const std::function<void()>& work) { std::thread(work).join(); }

}  // namespace

bool Captures::finished() const { return settled_.load(std::memory_order_relaxed) >= tool().config.wants.size(); }

// The program may be several processes: the first to get there makes the capture.
bool Captures::claim(const Want& want) {
  {
    std::lock_guard lock(mutex_);
    if (!claimed_.insert(&want).second) return false;
  }
  const std::string path = tool().output.path(want.place + "claimed");
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    ++settled_;
    return false;
  }
  close(file);
  return true;
}

const Want* Captures::claim_target(const Kernel* kernel, uint64_t index) {
  if (!kernel || finished()) return nullptr;
  for (const Want& want : tool().config.wants)
    if (index == want.index && (want.name.empty() ? kernel->wanted : kernel->name == want.name) && claim(want))
      return &want;
  return nullptr;
}

void Captures::note(const char* kind, const std::string& text) {
  std::lock_guard lock(mutex_);
  notes_ += std::string(kind) + " " + hex(text) + "\n";
}

std::string Captures::take_notes() {
  std::lock_guard lock(mutex_);
  return std::exchange(notes_, {});
}

// Everything before the target on its queue has run.
void Captures::capture_now(const HeldLaunch& target) {
  const std::lock_guard alone(one_at_a_time_);
  Queue& queue = target.queue;
  const auto failed = [&] { return queue.failed != 0; };
  const auto tell = [&](const std::string& line) { tool().output.append_line(target.want.place + "status", line); };
  Queues& queues = tool().queues;
  queues.stop_here();
  tool().gate.close();
  queues.drain_others(queue);
  std::unique_ptr<OneCapture> one;
  bool ready = false;
  elsewhere([&] {
    one = std::make_unique<OneCapture>(target);
    tell("found " + std::to_string(one->regions()) + " " + std::to_string(one->bytes()) + " " +
         hex(target.kernel->demangled));
    const bool fits = one->bytes() <= std::min(tool().config.max_bytes, target.want.max_bytes);
    if (!fits) tell("refused");
    ready = fits && one->before();
  });
  core().hsa_signal_store_screlease_fn(target.go, 0);
  if (wait_zero(target.ran, failed)) {
    if (ready)
      elsewhere([&] {
        tell("ran");
        if (one->after() && one->write()) tell("captured");
      });
    complete(target.packet.completion_signal, target.ran);
  } else {
    tell("fault " + std::to_string(queue.failed));
  }
  if (const std::string error = tool().output.error(); !error.empty()) tell("failed " + hex(error));
  ++settled_;
  queues.resume();
  core().hsa_signal_store_screlease_fn(target.over, 0);
  tool().gate.open();
  queues.finish_drain();
  elsewhere([] { tool().memory.release_deferred(); });
}

void Captures::capture(const HeldLaunch& target) {
  // The gate is still open: what the queue waits for may yet have to come, from this thread even.
  auto blocked_since = std::chrono::steady_clock::now();
  bool stuck = false;
  const auto give_up = [&] {
    const auto now = std::chrono::steady_clock::now();
    if (!is_blocked(target.queue)) blocked_since = now;
    stuck = now - blocked_since > kPatience;
    return stuck || target.queue.failed != 0;
  };
  if (wait_zero(target.drained, give_up) || !stuck) return capture_now(target);
  note_remark("the kernel's queue waited for the program, which therefore ran on during the capture");
  std::thread([this, target] {
    wait_zero(target.drained, [&] { return target.queue.failed != 0; });
    capture_now(target);
  }).detach();
}

}  // namespace capture
