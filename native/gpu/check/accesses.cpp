#include "accesses.h"

#include <algorithm>

namespace gpu::check {
namespace {

// Of a line: who wrote which bytes, who read others, and the atomics. What has been written need not be told
// as read.
struct OfLine {
  uint64_t written = 0, read = 0, updated = 0, looked_at = 0;

  uint64_t& seen(Kind kind) {
    switch (kind) {
      case Kind::Write: return written;
      case Kind::Read: return read;
      case Kind::AtomicWrite: return updated;
      case Kind::AtomicRead: return looked_at;
    }
    return written;
  }
};

bool alike(const Touch& a, const Touch& b) { return a.mask == b.mask && a.kind == b.kind && a.place == b.place; }

}  // namespace

const char* told(Kind kind) {
  switch (kind) {
    case Kind::Read: return "read";
    case Kind::Write: return "write";
    case Kind::AtomicRead: return "atomic read";
    case Kind::AtomicWrite: return "atomic update";
  }
  return "";
}

std::vector<Run> runs_of(const Shadow& shadow) {
  std::vector<Run> runs;
  std::vector<size_t> open;  // that end with the line before
  uint64_t last = ~uint64_t(0);
  shadow.each([&](uint64_t line, const std::vector<Touch>& touches) {
    if (line != last + 1) open.clear();
    last = line;
    OfLine done;
    std::vector<size_t> going_on;
    for (const Kind kind : {Kind::Write, Kind::Read, Kind::AtomicWrite, Kind::AtomicRead}) {
      for (const Touch& touch : touches) {
        if (touch.kind != kind) continue;
        Touch rest = touch;
        rest.mask &= ~done.seen(kind);
        if (kind == Kind::Read) rest.mask &= ~done.written;
        if (!rest.mask) continue;
        done.seen(kind) |= rest.mask;
        const auto same = std::find_if(open.begin(), open.end(),
                                       [&](size_t at) { return runs[at].end == line && alike(runs[at].touch, rest); });
        if (same != open.end()) {
          runs[*same].end = line + 1;
          going_on.push_back(*same);
        } else {
          going_on.push_back(runs.size());
          runs.push_back({line, line + 1, rest});
        }
      }
    }
    open = std::move(going_on);
  });
  return runs;
}

void add_run(std::vector<Run>& runs, uint64_t at, uint64_t bytes, Kind kind) {
  const uint64_t end = at + bytes;
  const auto add = [&](uint64_t line, uint64_t past, uint64_t mask) {
    if (!runs.empty() && runs.back().end == line && runs.back().touch.mask == mask && runs.back().touch.kind == kind) {
      runs.back().end = past;
      return;
    }
    Run run{line, past, {}};
    run.touch.mask = mask;
    run.touch.kind = kind;
    run.touch.lane = kNoLane;
    runs.push_back(run);
  };
  while (at < end) {
    const uint64_t line = at / Shadow::kLine, first = at % Shadow::kLine;
    const uint64_t whole = end / Shadow::kLine;
    if (first == 0 && whole > line) {
      add(line, whole, ~uint64_t(0));
      at = whole * Shadow::kLine;
      continue;
    }
    const uint64_t part = std::min(end - at, Shadow::kLine - first);
    add(line, line + 1, (part == 64 ? ~uint64_t(0) : (uint64_t{1} << part) - 1) << first);
    at += part;
  }
}

}  // namespace gpu::check
