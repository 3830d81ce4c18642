#include "snapshot.h"

#include <algorithm>
#include <cstring>

#include "tool.h"

namespace capture {

namespace {

constexpr uint64_t kChunk = 64 << 10;
constexpr uint64_t kGap = 32;             // equal bytes between two changes that are not worth an extent
constexpr size_t kRangesOfChunk = 16;     // more than that: one extent from the first to the last
constexpr size_t kPointersKept = 10'000;

bool zeros(const uint8_t* data, uint64_t size) { return data[0] == 0 && std::memcmp(data, data + 1, size - 1) == 0; }

void add(std::vector<Extent>& list, const Extent& next) {
  if (!list.empty()) {
    Extent& last = list.back();
    const bool follows = last.offset + last.size == next.offset && last.file == next.file;
    if (follows && (next.file < 0 || last.at + last.size == next.at)) {
      last.size += next.size;
      return;
    }
  }
  list.push_back(next);
}

}  // namespace

Snapshot::Snapshot(std::vector<CodeRange> code) : code_(std::move(code)), other_(kChunk) {
  std::sort(code_.begin(), code_.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
}

template <class Visit>
bool Snapshot::walk(Area& area, Visit visit) {
  for (uint64_t at = 0; at < area.size; at += Reader::kMost) {
    const uint64_t size = std::min(Reader::kMost, area.size - at);
    std::string failure;
    const uint8_t* data = reader_.read(area.read_at + at, size, area.agent, failure);
    if (!data) {
      area.failure = failure + " at offset " + std::to_string(at);
      break;
    }
    for (uint64_t chunk = 0; chunk < size; chunk += kChunk) {
      visit(at + chunk, data + chunk, std::min(kChunk, size - chunk));
      if (!tool().output.error().empty()) return false;
    }
  }
  if (file_) file_->close();
  file_.reset();
  file_number_ = -1;
  return tool().output.error().empty();
}

bool Snapshot::before(Area& area) {
  area.hashes.reserve((area.size + kChunk - 1) / kChunk);
  return walk(area, [&](uint64_t offset, const uint8_t* data, uint64_t size) {
    if (zeros(data, size)) {
      area.hashes.push_back({});
      add(area.before, {offset, size, -1, 0});
      return;
    }
    Key key{{1, 2, 3, 4}, size};
    gpu::add_content(key.hash, data, size);
    area.hashes.push_back(key.hash);
    if (area.scan) scan(area.base + offset, data, size);
    if (const auto known = stored_.find(key); known != stored_.end() && same_as_stored(known->second, data, size))
      add(area.before, {offset, size, known->second.file, known->second.at});
    else store(area, area.before, offset, data, size, &key);
  });
}

bool Snapshot::after(Area& area) {
  if (!area.failure.empty()) return true;
  return walk(area, [&](uint64_t offset, const uint8_t* data, uint64_t size) {
    const gpu::ContentHash& old = area.hashes[offset / kChunk];
    if (old == gpu::ContentHash{}) {
      if (zeros(data, size)) return;
    } else {
      gpu::ContentHash now{1, 2, 3, 4};
      gpu::add_content(now, data, size);
      if (now == old) return;
    }
    if (read_stored(area, offset, size, other_.data())) changes(area, offset, other_.data(), data, size);
  });
}

void Snapshot::store(Area& area, std::vector<Extent>& list, uint64_t offset, const uint8_t* data, uint64_t size,
                     const Key* key) {
  if (!file_) {
    file_ = std::make_unique<File>(tool().output, key ? area.before_name : area.after_name);
    file_number_ = int64_t(names_.size());
    names_.push_back(file_->name());
  }
  const uint64_t at = file_->size();
  if (!file_->write(data, size)) return;
  if (key) stored_.emplace(*key, Place{file_number_, at});
  add(list, {offset, size, file_number_, at});
}

bool Snapshot::same_as_stored(const Place& place, const uint8_t* data, uint64_t size) {
  return tool().output.read_back(names_[size_t(place.file)], place.at, other_.data(), size) &&
         std::memcmp(other_.data(), data, size) == 0;
}

bool Snapshot::read_stored(const Area& area, uint64_t offset, uint64_t size, uint8_t* data) {
  auto it = std::upper_bound(area.before.begin(), area.before.end(), offset,
                             [](uint64_t at, const Extent& e) { return at < e.offset; });
  const Extent& extent = *std::prev(it);  // chunks are never split over extents
  if (extent.file < 0) return std::memset(data, 0, size), true;
  return tool().output.read_back(names_[size_t(extent.file)], extent.at + (offset - extent.offset), data, size);
}

void Snapshot::changes(Area& area, uint64_t offset, const uint8_t* old, const uint8_t* now, uint64_t size) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  // first, one past the last
  for (uint64_t at = 0; at < size; ++at) {
    if (old[at] == now[at]) continue;
    if (!ranges.empty() && at - ranges.back().second < kGap) ranges.back().second = at + 1;
    else ranges.emplace_back(at, at + 1);
  }
  if (ranges.size() > kRangesOfChunk) ranges = {{ranges.front().first, ranges.back().second}};
  for (const auto& [first, end] : ranges) store(area, area.after, offset + first, now + first, end - first, nullptr);
}

void Snapshot::scan(uint64_t address, const uint8_t* data, uint64_t size) {
  if (code_.empty()) return;
  const uint64_t low = code_.front().begin, span = code_.back().end - low;
  // Words lie at multiples of eight of the address, not of the area.
  for (uint64_t at = (8 - address % 8) % 8; at + 8 <= size; at += 8) {
    uint64_t word;
    std::memcpy(&word, data + at, 8);
    if (word - low >= span) continue;
    auto it = std::upper_bound(code_.begin(), code_.end(), word,
                               [](uint64_t value, const CodeRange& range) { return value < range.begin; });
    if (it == code_.begin() || word >= std::prev(it)->end) continue;
    ++pointer_count_;
    if (pointers_.size() < kPointersKept) pointers_.push_back({address + at, word, std::prev(it)->number});
  }
}

}  // namespace capture
