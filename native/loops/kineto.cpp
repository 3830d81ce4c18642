// The events of a PyTorch trace as columns, read piece by piece: what is kept grows with the kernels, calls,
// operators and frames recorded, not with the file.
//
// kineto_events.py has the same for a file that was parsed into objects, and says what the columns are.
#include "json.h"
#include "loops.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

namespace loops {
namespace {

constexpr size_t kMostFacts = 64 << 20;  // bytes beside the events

enum Table { kKernels, kCopies, kCalls, kOperators, kFrames, kTables };
// clang-format off
enum Field { kPid, kTid, kDevice, kStream, kQueue, kCorrelation, kExternal, kLds, kBytes, kHandle,
             kGrid, kBlock = kGrid + 3, kFields = kBlock + 3 };
// clang-format on
constexpr uint32_t bit(int field) { return 1u << field; }
constexpr uint32_t kPlace = bit(kPid) | bit(kTid) | bit(kDevice) | bit(kStream) | bit(kExternal);
constexpr uint32_t kLaunched = kPlace | bit(kCorrelation);
constexpr uint32_t kShape = (bit(kFields) - 1) & ~(bit(kGrid) - 1);
constexpr uint32_t kKept[kTables] = {kLaunched | bit(kQueue) | bit(kLds) | kShape, kLaunched | bit(kBytes),
                                     kLaunched | bit(kHandle), kPlace, bit(kTid)};

struct Category {
  std::string_view name;
  Table table;
};
constexpr Category kCategories[] = {
    {"kernel", kKernels},         {"gpu_memcpy", kCopies},      {"gpu_memset", kCopies}, {"memcpy", kCopies},
    {"memset", kCopies},          {"cuda_runtime", kCalls},     {"hip_runtime", kCalls}, {"cuda_driver", kCalls},
    {"hip_driver", kCalls},       {"runtime", kCalls},          {"cpu_op", kOperators},  {"operator", kOperators},
    {"python_function", kFrames}, {"user_annotation", kFrames},
};

enum class Is { kAbsent, kValue, kOdd };

struct Integer {
  Is is = Is::kAbsent;
  int64_t value = kMissing;
};
struct Real {
  Is is = Is::kAbsent;
  double value = NAN;
};
struct Name {
  Is is = Is::kAbsent;
  JsonText text;
};
struct Triple {
  Is is = Is::kAbsent;
  int64_t sizes[3] = {kMissing, kMissing, kMissing};
};

struct Event {
  Name category, phase, name, kind;
  Real start, length, allocated;
  Integer pid, tid, device, stream, queue, correlation, external, external_lower, lds, bytes;
  Triple grid, block;
  bool arguments = false;
};

class Names {
 public:
  int32_t of(std::string_view text) {
    const auto known = codes_.find(text);
    if (known != codes_.end()) return known->second;
    all_.append(text).push_back('\n');  // no JSON string holds one as it is
    return codes_.emplace(text, int32_t(codes_.size())).first->second;
  }
  const std::string& all() const { return all_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> codes_;
  std::string all_;
};

struct Rows {
  std::vector<int32_t> name, kind;
  std::vector<double> start, length;
  std::vector<int64_t> fields[kFields];
  Names names;
};

class Kineto {
 public:
  // How many bytes were taken; -1 for a file that is not for this reader.
  int64_t feed(const char* text, size_t size, bool last);

  Rows rows[kTables];
  Names kinds;
  std::string facts;
  double most_allocated = 0;

 private:
  enum class At { kRoot, kFirstKey, kKey, kAfterFact, kFirstEvent, kEvent, kAfterEvent, kEnd };

  Json step(JsonReader& in);
  Json fact(JsonReader& in);
  Json event(JsonReader& in);
  Json member(JsonReader& in, Event& e, const JsonText& key);
  Json argument(JsonReader& in, Event& e, const JsonText& key);
  bool keep(const Event& e);
  bool keep(const Event& e, Table table);

  At at_ = At::kRoot;
  bool events_seen_ = false;
};

// Whether Python's int() surely refuses a text: it is empty, or a letter is in it.
bool no_integer(const JsonText& text) {
  if (text.escaped) return false;
  for (const char c : text.raw)
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return text.raw.empty();
}

bool whole(const JsonNumber& number, int64_t& value) {
  if (!number.whole || !number.fits || number.digits > uint64_t(INT64_MAX)) return false;
  value = number.negative ? -int64_t(number.digits) : int64_t(number.digits);
  return true;
}

bool starts_number(char c) { return c == '-' || (c >= '0' && c <= '9'); }

Json read(JsonReader& in, Integer& to) {
  if (to.is != Is::kAbsent) return Json::kOdd;  // a key twice
  to.is = Is::kOdd;
  char next = 0;
  if (Json r = in.peek(next); r != Json::kDone) return r;
  if (starts_number(next)) {
    JsonNumber number;
    if (Json r = in.number(number); r != Json::kDone) return r;
    if (whole(number, to.value)) to.is = Is::kValue;
    return Json::kDone;
  }
  if (next == '"') {
    JsonText text;
    if (Json r = in.text(text); r != Json::kDone) return r;
    if (no_integer(text)) to.is = Is::kValue;
    return Json::kDone;
  }
  if (next == 'n') to.is = Is::kValue;
  return in.skip();
}

Json read(JsonReader& in, Real& to) {
  if (to.is != Is::kAbsent) return Json::kOdd;
  to.is = Is::kOdd;
  char next = 0;
  if (Json r = in.peek(next); r != Json::kDone) return r;
  if (!starts_number(next)) {
    if (next == 'n') to.is = Is::kValue;
    return in.skip();
  }
  JsonNumber number;
  if (Json r = in.number(number); r != Json::kDone) return r;
  if (nearest(number, to.value)) to.is = Is::kValue;
  return Json::kDone;
}

Json read(JsonReader& in, Name& to) {
  if (to.is != Is::kAbsent) return Json::kOdd;
  to.is = Is::kOdd;
  char next = 0;
  if (Json r = in.peek(next); r != Json::kDone) return r;
  if (next != '"') return in.skip();
  to.is = Is::kValue;
  return in.text(to.text);
}

Json read(JsonReader& in, Triple& to) {
  if (to.is != Is::kAbsent) return Json::kOdd;
  to.is = Is::kValue;
  char next = 0;
  if (Json r = in.peek(next); r != Json::kDone) return r;
  if (next != '[') return in.skip();
  int count = 0;
  Integer sizes[3];
  const Json done = in.array([&] {
    if (count >= 3) {
      ++count;
      return in.skip();
    }
    return read(in, sizes[count++]);
  });
  if (done != Json::kDone || count != 3) return done;
  for (const Integer& size : sizes) {
    if (size.is == Is::kOdd) to.is = Is::kOdd;
    if (size.value <= 0) return Json::kDone;
  }
  for (int axis = 0; axis < 3; ++axis) to.sizes[axis] = sizes[axis].value;
  return Json::kDone;
}

int64_t Kineto::feed(const char* text, size_t size, bool last) {
  JsonReader in(text, text + size);
  const char* taken = text;
  Json done = Json::kDone;
  while (done == Json::kDone) {
    taken = in.at();
    done = step(in);
  }
  if (done == Json::kOdd) return -1;
  if (last) {
    JsonReader rest(taken, text + size);
    char next = 0;
    if (at_ != At::kEnd || !events_seen_ || rest.peek(next) == Json::kDone) return -1;
  }
  return taken - text;
}

// One token or one whole event. What it began and could not finish is read again with more text.
Json Kineto::step(JsonReader& in) {
  char next = 0;
  if (Json r = in.peek(next); r != Json::kDone) return r;
  switch (at_) {
    case At::kRoot:
      if (next != '{') return Json::kOdd;
      at_ = At::kFirstKey;
      break;
    case At::kFirstKey:
    case At::kKey:
      if (next == '}' && at_ == At::kFirstKey) {
        at_ = At::kEnd;
        break;
      }
      return next == '"' ? fact(in) : Json::kOdd;
    case At::kAfterFact:
      if (next != ',' && next != '}') return Json::kOdd;
      at_ = next == ',' ? At::kKey : At::kEnd;
      break;
    case At::kFirstEvent:
    case At::kEvent:
      if (next == ']' && at_ == At::kFirstEvent) {
        at_ = At::kAfterFact;
        break;
      }
      return event(in);
    case At::kAfterEvent:
      if (next != ',' && next != ']') return Json::kOdd;
      at_ = next == ',' ? At::kEvent : At::kAfterFact;
      break;
    case At::kEnd: return Json::kOdd;
  }
  in.take();
  return Json::kDone;
}

Json Kineto::fact(JsonReader& in) {
  const char* const begin = in.at();
  JsonText key;
  if (Json r = in.text(key); r != Json::kDone) return r;
  // A profile of rocprofv3's is one value, as long as the file.
  if (key.escaped || key.raw == "rocprofiler-sdk-tool") return Json::kOdd;
  if (Json r = in.expect(':'); r != Json::kDone) return r;
  char next = 0;
  if (Json r = in.peek(next); r != Json::kDone) return r;
  if (key.raw == "traceEvents") {
    if (next != '[' || events_seen_) return Json::kOdd;
    events_seen_ = true;
    in.take();
    at_ = At::kFirstEvent;
    return Json::kDone;
  }
  if (Json r = in.skip(); r != Json::kDone) return r;
  if (!facts.empty()) facts.push_back(',');
  facts.append(begin, size_t(in.at() - begin));
  at_ = At::kAfterFact;
  return facts.size() <= kMostFacts ? Json::kDone : Json::kOdd;
}

Json Kineto::event(JsonReader& in) {
  char next = 0;
  if (Json r = in.peek(next); r != Json::kDone) return r;
  if (next == '{') {
    Event e;
    if (Json r = in.object([&](const JsonText& key) { return member(in, e, key); }); r != Json::kDone) return r;
    if (!keep(e)) return Json::kOdd;
  } else if (Json r = in.skip(); r != Json::kDone) return r;
  at_ = At::kAfterEvent;
  return Json::kDone;
}

Json Kineto::member(JsonReader& in, Event& e, const JsonText& key) {
  if (key.escaped) return Json::kOdd;
  const std::string_view k = key.raw;
  if (k == "ph") return read(in, e.phase);
  if (k == "cat") return read(in, e.category);
  if (k == "name") return read(in, e.name);
  if (k == "pid") return read(in, e.pid);
  if (k == "tid") return read(in, e.tid);
  if (k == "ts") return read(in, e.start);
  if (k == "dur") return read(in, e.length);
  if (k != "args") return in.skip();
  if (e.arguments) return Json::kOdd;
  e.arguments = true;
  char next = 0;
  if (Json r = in.peek(next); r != Json::kDone) return r;
  if (next != '{') return in.skip();
  return in.object([&](const JsonText& inner) { return argument(in, e, inner); });
}

Json Kineto::argument(JsonReader& in, Event& e, const JsonText& key) {
  if (key.escaped) return Json::kOdd;
  const std::string_view k = key.raw;
  if (k == "External id") return read(in, e.external);
  if (k == "external id") return read(in, e.external_lower);
  if (k == "correlation") return read(in, e.correlation);
  if (k == "device") return read(in, e.device);
  if (k == "stream") return read(in, e.stream);
  if (k == "queue") return read(in, e.queue);
  if (k == "grid") return read(in, e.grid);
  if (k == "block") return read(in, e.block);
  if (k == "kind") return read(in, e.kind);
  if (k == "bytes") return read(in, e.bytes);
  if (k == "shared memory") return read(in, e.lds);
  if (k == "Total Allocated") return read(in, e.allocated);
  return in.skip();
}

// False for an event that only Python's reader understands.
bool Kineto::keep(const Event& e) {
  if (e.category.is != Is::kValue) return true;
  if (e.category.text.escaped || e.phase.text.escaped) return false;
  if (e.phase.is == Is::kValue && e.phase.text.raw == "X") {
    char lower[24];
    const std::string_view category = e.category.text.raw;
    for (const char c : category)
      if (uint8_t(c) >= 0x80) return false;
    if (category.size() > sizeof lower) return true;
    for (size_t i = 0; i < category.size(); ++i) {
      const char c = category[i];
      lower[i] = c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c;
    }
    for (const Category& known : kCategories)
      if (known.name == std::string_view(lower, category.size())) return keep(e, known.table);
    return true;
  }
  if (e.name.is != Is::kValue) return true;
  if (e.name.text.escaped) return false;
  if (e.name.text.raw != "[memory]") return true;
  if (e.allocated.is == Is::kOdd) return false;
  if (e.allocated.value > most_allocated) most_allocated = e.allocated.value;
  return true;
}

bool Kineto::keep(const Event& e, Table table) {
  Rows& to = rows[table];
  const Integer device = e.device.is == Is::kAbsent ? e.pid : e.device;
  const Integer stream = e.stream.is == Is::kAbsent ? e.tid : e.stream;
  Integer fields[kFields];
  fields[kPid] = e.pid;
  fields[kTid] = e.tid;
  fields[kDevice] = device;
  fields[kStream] = stream;
  fields[kQueue] = e.queue.is == Is::kAbsent ? stream : e.queue;
  fields[kCorrelation] = e.correlation;
  fields[kExternal] = e.external.is == Is::kAbsent ? e.external_lower : e.external;
  fields[kLds] = e.lds;
  fields[kBytes] = e.bytes;
  fields[kHandle] = e.stream;
  for (int axis = 0; axis < 3; ++axis) {
    fields[kGrid + axis] = {e.grid.is, e.grid.sizes[axis]};
    fields[kBlock + axis] = {e.block.is, e.block.sizes[axis]};
  }
  for (uint32_t left = kKept[table]; left; left &= left - 1)
    if (fields[std::countr_zero(left)].is == Is::kOdd) return false;
  if (e.start.is == Is::kOdd || e.length.is == Is::kOdd || e.name.is == Is::kOdd) return false;
  if (table == kCopies) {
    if (e.kind.is == Is::kOdd) return false;
    to.kind.push_back(e.kind.is == Is::kValue ? kinds.of(e.kind.text.raw) : -1);
  }
  to.name.push_back(e.name.is == Is::kValue ? to.names.of(e.name.text.raw) : -1);
  to.start.push_back(e.start.value);
  to.length.push_back(e.length.value);
  for (uint32_t left = kKept[table]; left; left &= left - 1) {
    const int field = std::countr_zero(left);
    to.fields[field].push_back(fields[field].value);
  }
  return true;
}

template <typename T>
void hand_over(std::vector<T>& column, void* to) {
  if (!column.empty()) memcpy(to, column.data(), column.size() * sizeof(T));
  std::vector<T>().swap(column);
}

}  // namespace
}  // namespace loops

using loops::Kineto;

RPL_LOOP Kineto* rpl_kineto_open() { return new (std::nothrow) Kineto; }
RPL_LOOP void rpl_kineto_close(Kineto* reader) { delete reader; }

// Takes as much as it can of the text that follows what was taken so far, and says how much that is; -1
// for a file that is not for this reader, or too large for the memory.
RPL_LOOP int64_t rpl_kineto_feed(Kineto* reader, const char* text, size_t size, int last) {
  try {
    return reader->feed(text, size, last != 0);
  } catch (const std::bad_alloc&) { return -1; }
}

RPL_LOOP int64_t rpl_kineto_rows(const Kineto* reader, int table) { return int64_t(reader->rows[table].name.size()); }

// Copies a column out and lets it go: name and kind are 32-bit numbers, start and length doubles, the
// fields 64-bit integers. A table without the field has no such column: `to` is left alone.
RPL_LOOP void rpl_kineto_names(Kineto* reader, int table, void* to) { loops::hand_over(reader->rows[table].name, to); }
RPL_LOOP void rpl_kineto_kinds(Kineto* reader, int table, void* to) { loops::hand_over(reader->rows[table].kind, to); }
RPL_LOOP void rpl_kineto_times(Kineto* reader, int table, void* start, void* length) {
  loops::hand_over(reader->rows[table].start, start);
  loops::hand_over(reader->rows[table].length, length);
}
RPL_LOOP int rpl_kineto_field(Kineto* reader, int table, int field, void* to) {
  if (!(loops::kKept[table] & loops::bit(field))) return 0;
  loops::hand_over(reader->rows[table].fields[field], to);
  return 1;
}

// Texts as written in the file, escapes and all, a line each; valid until the reader is closed.
RPL_LOOP const char* rpl_kineto_texts(const Kineto* reader, int table, size_t* size) {
  const std::string& all = table < loops::kTables ? reader->rows[table].names.all() : reader->kinds.all();
  *size = all.size();
  return all.data();
}
// The members of the root beside the events, as in the file.
RPL_LOOP const char* rpl_kineto_facts(const Kineto* reader, size_t* size) {
  *size = reader->facts.size();
  return reader->facts.data();
}
RPL_LOOP double rpl_kineto_most_allocated(const Kineto* reader) { return reader->most_allocated; }
