// The queue that does what its packets say: a thread of its own takes them in order.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "device_clock.h"
#include "queues.h"

namespace {

hsa_status_t status_of(gpu::FaultKind kind) {
  using gpu::FaultKind;
  switch (kind) {
    case FaultKind::Unmapped:
    case FaultKind::Freed:
    case FaultKind::ReadOnly: return hsa_status_t(HSA_STATUS_ERROR_MEMORY_FAULT);
    case FaultKind::Misaligned:
    case FaultKind::LdsOutOfRange:
    case FaultKind::ScratchOutOfRange: return hsa_status_t(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION);
    case FaultKind::IllegalInstruction:
    case FaultKind::IllegalRegister: return hsa_status_t(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
    default: return HSA_STATUS_ERROR_EXCEPTION;
  }
}

// Runs what the packets say, one after the other.
class HardwareQueue final : public Queue {
 public:
  bool create(Agent& owner, uint32_t size, hsa_queue_type32_t type) {
    if (!create_ring(owner, size, type)) return false;
    lane = std::make_unique<Lane>();
    thread_ = std::thread([this] { process(); });
    return true;
  }

  ~HardwareQueue() override {
    stop();
    if (thread_.joinable()) {
      if (thread_.get_id() == std::this_thread::get_id()) thread_.detach();
      else thread_.join();
    }
  }

  void rung() override {
    {
      std::lock_guard lock(mutex_);
      ++rings_;
    }
    wake_.notify_one();
  }

  void inactivate() override { stop(); }
  bool stopped() const { return stopping_.load(); }

 private:
  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
  }

  void process() {
    uint64_t seen = 0;
    while (!stopping_) {
      const uint64_t index = read_index().load(std::memory_order_relaxed);
      Packet& packet = slot_at(index);
      const uint16_t header = load_header(packet);
      // A valid header is not enough: the host hands a packet over by the doorbell, at a time of its own.
      const bool announced = index < rung_index.load(std::memory_order_acquire);
      if (packet_type(header) == HSA_PACKET_TYPE_INVALID || !announced) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || rings_ != seen; });
        seen = rings_;
        continue;
      }
      now_ = std::exchange(submitted[index & (submitted.size() - 1)], {});
      const bool going = execute(packet, header);
      if (now_.ticket) lane->done(now_.ticket);
      if (!going) break;
      store_header(packet, HSA_PACKET_TYPE_INVALID);
      read_index().fetch_add(1, std::memory_order_release);
    }
    lane->close();
  }

  bool execute(Packet& packet, uint16_t header) {
    // The barrier bit: after all that the queue holds before it. Else packets only begin in order.
    if (header >> HSA_PACKET_HEADER_BARRIER & 1) begun_ = gpu::check::both(begun_, ended_);
    switch (packet_type(header)) {
      case HSA_PACKET_TYPE_KERNEL_DISPATCH: return dispatch(packet.dispatch);
      case HSA_PACKET_TYPE_BARRIER_AND: return barrier(packet.barrier, true);
      case HSA_PACKET_TYPE_BARRIER_OR: return barrier(packet.barrier, false);
      case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        if (packet.value.header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE) return barrier_value(packet.value);
        break;
      default: break;
    }
    return fail(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "rocm-perf: an AQL packet of type " +
                                                            std::to_string(packet_type(header)) +
                                                            " cannot be processed on this queue\n");
  }

  bool dispatch(const hsa_kernel_dispatch_packet_t& p) {
    gpu::DispatchRequest request;
    request.packet_address = reinterpret_cast<uint64_t>(&p);
    request.dims = p.setup & 3;
    const uint16_t workgroup[3] = {p.workgroup_size_x, p.workgroup_size_y, p.workgroup_size_z};
    const uint32_t grid[3] = {p.grid_size_x, p.grid_size_y, p.grid_size_z};
    for (unsigned i = 0; i < 3; ++i) {
      const bool used = i < std::max<unsigned>(request.dims, 1);
      request.workgroup[i] = used ? workgroup[i] : 1;
      request.grid[i] = used ? grid[i] : 1;
    }
    request.private_bytes = p.private_segment_size;
    request.group_bytes = p.group_segment_size;
    request.kernel_object = p.kernel_object;
    request.kernarg = reinterpret_cast<uint64_t>(p.kernarg_address);
    request.queue_address = reinterpret_cast<uint64_t>(amd);
    request.only_queue = ::only_queue();
    request.dispatch_id = read_index().load(std::memory_order_relaxed);
    request.timed = device_clock::modelled();
    if (request.timed) {
      if (now_.ticket) lane->take_turn(now_.ticket);
      request.start_ns = time_.ready_ns(now_.ns);
      request.gets_nowhere = [this] { lane->hold([] { return true; }); };
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    uint64_t start = now_ns();
    gpu::DispatchResult result;
    {
      const gpu::check::Doing work(now_.work, begun_);
      result = agent->gpu->run(request);
    }
    uint64_t end = now_ns();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!result.ok) return fault(result);
    if (request.timed) {
      const device_clock::Span span =
          time_.dispatched(*agent, p, request.start_ns, result.duration_ns, result.compute_units);
      start = span.start;
      end = span.end;
      lane->hold(nullptr);
    }
    over(p.completion_signal, gpu::check::clock_of(now_.work));
    complete(p.completion_signal, start, std::max(end, start + 1));
    return true;
  }

  // A packet has come to its end, for those who wait for its signal and for packets after it.
  void over(hsa_signal_t completion, const gpu::check::Clock& known) {
    ended_ = gpu::check::both(ended_, known);
    gpu::check::ends_with(completion.handle, known);
  }

  bool wait_while(auto pending) {
    if (now_.ticket && pending()) lane->hold(pending);
    bool done = false;
    while (!stopping_ && !done) {
      const uint32_t seen = change_count();
      done = !pending();
      if (!done) wait_for_change(seen, 1'000'000'000);
    }
    if (now_.ticket) lane->hold(nullptr);
    return done;
  }

  bool barrier(const hsa_barrier_and_packet_t& p, bool all) {
    const uint64_t began = now_ns();
    const bool done = wait_while([&] {
      bool any_signal = false, any_zero = false, any_left = false;
      for (hsa_signal_t handle : p.dep_signal) {
        Signal* signal = signal_of(handle);
        if (!signal) continue;
        any_signal = true;
        (signal->value().load(std::memory_order_acquire) == 0 ? any_zero : any_left) = true;
      }
      return any_signal && (all ? any_left : !any_zero);
    });
    if (done) passed(began, p.completion_signal, {std::begin(p.dep_signal), std::end(p.dep_signal)});
    return done;
  }

  bool barrier_value(const hsa_amd_barrier_value_packet_t& p) {
    const uint64_t began = now_ns();
    Signal* signal = signal_of(p.signal);
    const bool done = !signal || wait_while([&] {
      return !holds(hsa_signal_condition_t(p.cond), signal->value().load(std::memory_order_acquire) & p.mask, p.value);
    });
    if (done) passed(began, p.completion_signal, {p.signal});
    return done;
  }

  // A packet that waited for those signals has come to its end.
  void passed(uint64_t began, hsa_signal_t completion, const std::vector<hsa_signal_t>& waited_for) {
    uint64_t end = now_ns();
    if (device_clock::modelled()) {
      if (now_.ticket) lane->take_turn(now_.ticket);
      began = end = time_.passed(now_.ns, signal_of(completion) != nullptr, waited_for);
    }
    if (gpu::check::work_is_ordered()) {
      begun_ = gpu::check::both(begun_, now_.host);
      for (const hsa_signal_t signal : waited_for)
        begun_ = gpu::check::both(begun_, gpu::check::signal_clock(signal.handle));
      over(completion, begun_);
    }
    complete(completion, began, end);
  }

  bool fault(const gpu::DispatchResult& result) {
    const hsa_status_t status =
        result.refused ? HSA_STATUS_ERROR_INVALID_PACKET_FORMAT : status_of(result.fault.fault.kind);
    if (status == hsa_status_t(HSA_STATUS_ERROR_MEMORY_FAULT)) memory_event(result.fault.fault);
    return fail(status, result.fault.text);
  }

  void memory_event(const gpu::Fault& fault) {
    hsa_amd_event_t event{};
    event.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT;
    event.memory_fault = {agent->handle(), fault.address,
                          uint32_t(fault.kind == gpu::FaultKind::ReadOnly ? HSA_AMD_MEMORY_FAULT_READ_ONLY
                                                                          : HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT)};
    Runtime* runtime = Runtime::get();
    if (!runtime) return;
    std::unique_lock lock(runtime->event_mutex);
    auto handlers = runtime->event_handlers;
    lock.unlock();
    for (auto [handler, data] : handlers) handler(&event, data);
  }

  // The queue stops here, as on hardware; without a callback nobody could ever hear of it.
  bool fail(hsa_status_t status, const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
    stopping_ = true;
    if (!on_error) std::abort();
    on_error(status, handle(), error_data);
    return false;
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  uint64_t rings_ = 0;
  device_clock::QueueTime time_;
  Submitted now_;  // the packet at hand
  gpu::check::Clock begun_, ended_;  // what packets begin after, and what is over with those that have ended
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace

hsa_status_t create_hardware_queue(Agent& agent, uint32_t size, hsa_queue_type32_t type, QueueCallback on_error,
                                   void* data, Queue** out) {
  if (!agent.is_gpu()) return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
  if (!size || (size & (size - 1)) || size > kMaxPackets || type > HSA_QUEUE_TYPE_COOPERATIVE)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto queue = std::make_unique<HardwareQueue>();
  queue->on_error = on_error;
  queue->error_data = data;
  if (!queue->create(agent, size, type)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *out = queue.release();
  return HSA_STATUS_SUCCESS;
}

bool submit(Queue& queue, const Packet* packets, uint64_t count) {
  auto& hardware = static_cast<HardwareQueue&>(queue);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t index = queue.write_index().fetch_add(1, std::memory_order_acq_rel);
    while (index - queue.read_index().load(std::memory_order_acquire) >= queue.amd->hsa_queue.size) {
      if (hardware.stopped()) return false;
      std::this_thread::yield();
    }
    Packet& to = queue.slot_at(index);
    std::memcpy(to.bytes + 2, packets[i].bytes + 2, sizeof(Packet) - 2);
    store_header(to, packets[i].header);
    ring(queue, int64_t(index));
  }
  return true;
}
