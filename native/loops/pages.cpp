// Rows of SQLite's table leaf pages as columns, and the byte strings among them by number.
//
// Offsets come from the file, so every one is checked before it is used.
#include "loops.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace loops {
namespace {

enum Kind : int64_t { kSkip, kInteger, kReal, kText };  // as pages.py numbers them

// Bytes of a value by its serial type, of those that are no text or blob.
constexpr int64_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

struct Columns {
  const int64_t* kinds;
  const int64_t* slots;
  int64_t width;
  int64_t rowid;  // the column that the record leaves NULL
  int64_t* const* integers;
  double* const* reals;
  int64_t* const* begins;
  int64_t* const* lengths;
};

// A variable-length integer and where the next byte is; nullptr if it does not end.
const uint8_t* varint(const uint8_t* at, const uint8_t* end, int64_t& value) {
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) {
    if (at >= end) return nullptr;
    const uint8_t byte = *at++;
    bits = bits << 7 | (byte & 0x7F);
    if (byte < 0x80) {
      value = int64_t(bits);
      return at;
    }
  }
  if (at >= end) return nullptr;
  value = int64_t(bits << 8 | *at);
  return at + 1;
}

int64_t two(const uint8_t* at) { return int64_t(at[0]) << 8 | at[1]; }

// A big-endian two's complement number of 1 to 8 bytes.
int64_t integer(const uint8_t* at, int64_t size) {
  uint64_t value = uint64_t(int64_t(int8_t(at[0])));
  for (int64_t i = 1; i < size; ++i) value = value << 8 | at[i];
  return int64_t(value);
}

// How much of a record lies on its page; the rest is on overflow pages.
int64_t local(int64_t payload, int64_t usable) {
  if (payload <= usable - 35) return payload;
  const int64_t least = (usable - 12) * 32 / 255 - 23;
  const int64_t some = least + (payload - least) % (usable - 4);
  return some <= usable - 35 ? some : least;
}

// One value into its column; false for a type that does not belong there.
bool put(const Columns& to, int64_t column, int64_t row, int64_t rowid, int64_t type, const uint8_t* data,
         const uint8_t* value, int64_t size) {
  const int64_t slot = to.slots[column];
  switch (to.kinds[column]) {
    case kInteger:
      if (column == to.rowid) to.integers[slot][row] = rowid;
      else if (type == 0) to.integers[slot][row] = kMissing;
      else if (type < 7) to.integers[slot][row] = integer(value, size);
      else if (type == 8 || type == 9) to.integers[slot][row] = type - 8;
      else return false;
      return true;
    case kReal:
      if (type == 0) to.reals[slot][row] = NAN;
      else if (type < 7) to.reals[slot][row] = double(integer(value, size));
      else if (type == 7) {
        const int64_t bits = integer(value, 8);
        memcpy(&to.reals[slot][row], &bits, sizeof bits);
      } else if (type < 10) to.reals[slot][row] = double(type - 8);
      else return false;
      return true;
    default:
      if (type == 0) {
        to.begins[slot][row] = 0;
        to.lengths[slot][row] = -1;
      } else if (type >= 13 && type % 2 == 1) {
        to.begins[slot][row] = value - data;
        to.lengths[slot][row] = size;
      } else return false;
      return true;
  }
}

bool record(const Columns& to, int64_t row, int64_t rowid, const uint8_t* data, const uint8_t* at,
            const uint8_t* stop) {
  int64_t header = 0;
  const uint8_t* types = varint(at, stop, header);
  if (!types || header < 1 || header > stop - at) return false;
  const uint8_t* const header_end = at + header;
  const uint8_t* value = header_end;
  for (int64_t column = 0; column < to.width; ++column) {
    if (types >= header_end) return false;
    int64_t type = *types;
    if (type < 0x80) ++types;
    else {
      types = varint(types, header_end, type);
      if (!types || type < 0) return false;
    }
    if (type == 10 || type == 11) return false;
    const int64_t size = type >= 12 ? (type - 12) >> 1 : kSizes[type];
    if (size > stop - value) return false;  // of a skipped one too: sizes could add up past all bounds
    if (to.kinds[column] != kSkip && !put(to, column, row, rowid, type, data, value, size)) return false;
    value += size;
  }
  return true;
}

}  // namespace
}  // namespace loops

// Fills the columns with the rows of some leaf pages; 0 for anything out of the ordinary. `offsets` is
// where each page begins in `data`, `starts` where its header does; the first and the last rowid go
// to `rowids`.
RPL_LOOP int rpl_read_pages(const uint8_t* data, int64_t pages, const int64_t* offsets, const int64_t* starts,
                            int64_t usable, int64_t width, const int64_t* kinds, const int64_t* slots,
                            int64_t rowid_column, int64_t* const* integers, double* const* reals,
                            int64_t* const* begins, int64_t* const* lengths, int64_t* rowids) {
  using loops::varint;
  const loops::Columns to{kinds, slots, width, rowid_column, integers, reals, begins, lengths};
  int64_t row = 0, last = loops::kMissing;
  for (int64_t page = 0; page < pages; ++page) {
    const uint8_t *begin = data + offsets[page], *start = data + starts[page], *end = begin + usable;
    if (*start != 13) return 0;
    const int64_t cells = loops::two(start + 3);
    const uint8_t* const first_cell = start + 8 + 2 * cells;
    if (first_cell > end) return 0;
    for (int64_t cell = 0; cell < cells; ++cell) {
      const uint8_t* at = begin + loops::two(start + 8 + 2 * cell);
      if (at < first_cell || at >= end) return 0;
      int64_t payload = 0, rowid = 0;
      at = varint(at, end, payload);
      if (!at || payload < 1) return 0;
      at = varint(at, end, rowid);
      if (!at || rowid <= last) return 0;
      last = rowid;
      if (row == 0) rowids[0] = rowid;
      const int64_t here = loops::local(payload, usable);
      if (here > end - at || !loops::record(to, row, rowid, data, at, at + here)) return 0;
      ++row;
    }
  }
  rowids[1] = last;
  return 1;
}

// Numbers equal byte strings equally, in the order they are met; the first row of each number. NULL has
// length -1. Returns how many there are.
RPL_LOOP int64_t rpl_distinct(const uint8_t* data, const int64_t* begin, const int64_t* length, int64_t count,
                              int64_t* codes, int64_t* first) {
  size_t places = 16;
  while (places < 2 * size_t(count)) places *= 2;
  std::vector<int64_t> table(places, -1);
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = length[i];
    const size_t bytes = size > 0 ? size_t(size) : 0;
    uint64_t mixed = 1469598103934665603ULL;
    for (size_t j = 0; j < bytes; ++j) mixed = (mixed ^ data[size_t(begin[i]) + j]) * 1099511628211ULL;
    mixed ^= mixed >> 32;
    for (size_t at = mixed & (places - 1);; at = (at + 1) & (places - 1)) {
      if (table[at] < 0) {
        codes[i] = table[at] = found;
        first[found++] = i;
        break;
      }
      const int64_t other = first[table[at]];
      if (length[other] == size && memcmp(data + begin[i], data + begin[other], bytes) == 0) {
        codes[i] = table[at];
        break;
      }
    }
  }
  return found;
}

// Which byte strings are among the wanted ones, which lie end to end.
RPL_LOOP void rpl_matching(const uint8_t* data, const int64_t* begin, const int64_t* length, int64_t count,
                           const uint8_t* wanted, const int64_t* ends, int64_t wanted_count, uint8_t* found) {
  for (int64_t i = 0; i < count; ++i) {
    found[i] = 0;
    int64_t start = 0;
    for (int64_t w = 0; w < wanted_count && !found[i]; start = ends[w++])
      found[i] = ends[w] - start == length[i] && memcmp(data + begin[i], wanted + start, size_t(length[i])) == 0;
  }
}
