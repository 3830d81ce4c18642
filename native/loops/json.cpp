#include "json.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace loops {
namespace {

constexpr int kDeepest = 100;           // beyond, Python's reader says how deep is too deep
constexpr long kLongestNumber = 1000;   // Python refuses those of thousands of digits
constexpr uint64_t kOnes = 0x0101010101010101ULL, kHighs = kOnes << 7;

bool digit(char c) { return c >= '0' && c <= '9'; }

// Whether one of 8 bytes ends a run of plain text: a quote, a backslash or a control character.
bool special(uint64_t word) {
  const uint64_t quote = word ^ kOnes * '"', slash = word ^ kOnes * '\\';
  const uint64_t found = ((quote - kOnes) & ~quote) | ((slash - kOnes) & ~slash) | ((word - kOnes * 0x20) & ~word);
  return (found & kHighs) != 0;
}

}  // namespace

Json JsonReader::expect(char wanted) {
  char next = 0;
  if (Json r = peek(next); r != Json::kDone) return r;
  if (next != wanted) return Json::kOdd;
  take();
  return Json::kDone;
}

Json JsonReader::text(JsonText& found) {
  const char* const begin = ++at_;
  while (true) {
    uint64_t word = 0;
    while (end_ - at_ >= 8 && (memcpy(&word, at_, 8), !special(word))) at_ += 8;
    while (at_ < end_ && *at_ != '"' && *at_ != '\\' && uint8_t(*at_) >= 0x20) ++at_;
    if (at_ == end_) return Json::kMore;
    if (*at_ == '"') {
      found.raw = {begin, size_t(at_++ - begin)};
      return Json::kDone;
    }
    if (*at_ != '\\') return Json::kOdd;
    found.escaped = true;
    if (Json r = escape(); r != Json::kDone) return r;
  }
}

Json JsonReader::escape() {
  ++at_;
  if (at_ == end_) return Json::kMore;
  if (*at_ != 'u') {
    if (!strchr("\"\\/bfnrt", *at_) || !*at_) return Json::kOdd;
    ++at_;
    return Json::kDone;
  }
  if (end_ - at_ < 5) return Json::kMore;
  const auto hex = [](char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  if (!std::all_of(at_ + 1, at_ + 5, hex)) return Json::kOdd;
  at_ += 5;
  return Json::kDone;
}

Json JsonReader::number(JsonNumber& found) {
  const char* const begin = at_;
  found = {};
  if (*at_ == '-') {
    found.negative = true;
    ++at_;
  }
  int before_point = 0;
  const auto digits = [&] {
    const char* const from = at_;
    for (; at_ < end_ && digit(*at_); ++at_) {
      found.fits = found.fits && found.digits < UINT64_MAX / 10;
      if (found.fits) found.digits = found.digits * 10 + uint64_t(*at_ - '0');
    }
    return int(at_ - from);
  };
  const bool zero = at_ < end_ && *at_ == '0';
  before_point = digits();
  if (at_ == end_) return Json::kMore;
  if (before_point == 0 || (zero && before_point > 1)) return Json::kOdd;
  if (*at_ == '.') {
    ++at_;
    found.whole = false;
    const int after = digits();
    if (at_ == end_) return Json::kMore;
    if (after == 0) return Json::kOdd;
    found.exponent = -after;
  }
  if (*at_ == 'e' || *at_ == 'E') {
    ++at_;
    found.whole = false;
    const bool down = at_ < end_ && *at_ == '-';
    if (at_ < end_ && (*at_ == '-' || *at_ == '+')) ++at_;
    const char* const from = at_;
    int power = 0;
    for (; at_ < end_ && digit(*at_); ++at_) power = std::min(power * 10 + (*at_ - '0'), 100000);
    if (at_ == end_) return Json::kMore;
    if (at_ == from) return Json::kOdd;
    found.exponent += down ? -power : power;
  }
  return at_ - begin <= kLongestNumber ? Json::kDone : Json::kOdd;
}

Json JsonReader::literal() {
  for (const std::string_view word : {"true", "false", "null", "NaN", "Infinity"}) {
    if (*at_ != word[0]) continue;
    if (size_t(end_ - at_) < word.size()) return Json::kMore;
    if (std::string_view(at_, word.size()) != word) return Json::kOdd;
    at_ += word.size();
    return Json::kDone;
  }
  return Json::kOdd;
}

Json JsonReader::skip(int depth) {
  char next = 0;
  if (Json r = peek(next); r != Json::kDone) return r;
  if (depth > kDeepest) return Json::kOdd;
  if (next == '"') {
    JsonText ignored;
    return text(ignored);
  }
  if (next == '{') return object([&](const JsonText&) { return skip(depth + 1); });
  if (next == '[') return array([&] { return skip(depth + 1); });
  if (next == '-' || digit(next)) {
    JsonNumber ignored;
    return number(ignored);
  }
  return literal();
}

bool nearest(const JsonNumber& number, double& found) {
  if (!number.fits) return false;
  __extension__ using Wide = unsigned __int128;
  Wide scaled = number.digits;
  int power = 0;  // of two
  bool more = false;
  if (number.digits == 0) {
    found = number.negative ? -0.0 : 0.0;
    return true;
  }
  if (number.exponent > 0) {
    if (number.exponent > 19) return false;
    for (int i = 0; i < number.exponent; ++i) scaled *= 10;
  } else if (number.exponent < 0) {
    if (number.exponent < -19) return false;
    uint64_t divisor = 1;
    for (int i = 0; i > number.exponent; --i) divisor *= 10;
    // Digits at the top of 128 bits, so that the quotient has more bits than a double.
    power = -(64 + std::countl_zero(number.digits));
    scaled <<= -power;
    more = scaled % divisor != 0;
    scaled /= divisor;
  }
  const auto high = uint64_t(scaled >> 64);
  const int bits = high ? 128 - std::countl_zero(high) : 64 - std::countl_zero(uint64_t(scaled));
  if (const int extra = bits - 53; extra > 0) {
    const Wide rest = scaled & ((Wide(1) << extra) - 1), half = Wide(1) << (extra - 1);
    scaled >>= extra;
    power += extra;
    if (rest > half || (rest == half && (more || (scaled & 1)))) ++scaled;
  }
  found = std::ldexp(double(uint64_t(scaled)), power);
  if (number.negative) found = -found;
  return true;
}

}  // namespace loops
