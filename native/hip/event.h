// An event: a point in a stream that can be waited for and, unless timing is off, timed.
#pragma once

#include <vector>

#include "completion.h"
#include "stream.h"

struct hipGraphNode;

namespace hip {

struct Event {
  enum class Edge : uint8_t { End, Start };  // of the work whose completion it holds

  Event(Device& device_, unsigned flags_) : device(&device_), flags(flags_), home(&device_) {}

  Device* device;
  const unsigned flags;
  bool recorded = false;
  CompletionRef completion;
  Edge edge = Edge::End;
  // Recorded in a stream under capture: a point of that graph instead.
  StreamCapture* capture = nullptr;
  std::vector<hipGraphNode*> captured_nodes;
  const Device* const home;  // that it was created for

  void attach(CompletionRef done, Stream& stream, Edge which);
  bool timed() const { return !(flags & hipEventDisableTiming); }
};

// Null for a handle that is no live event.
Event* resolve_event(hipEvent_t handle);

// Into the stream, without regard to capture.
hipError_t record_event(Event& event, Stream& stream);
hipError_t wait_event(Stream& stream, Event& event);

}  // namespace hip
