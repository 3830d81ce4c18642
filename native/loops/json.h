// A reader of JSON text that checks what it skips.
//
// It knows the usual cases. Whatever else it meets is kOdd: the text may be wrong, or merely unusual, and
// Python's own reader is asked instead.
#pragma once

#include <cstdint>
#include <string_view>

namespace loops {

enum class Json {
  kDone,
  kMore,  // the text ends inside of a value
  kOdd,
};

// Text between quotes, escapes as written.
struct JsonText {
  std::string_view raw;
  bool escaped = false;
};

// digits * 10^exponent, where the digits fit.
struct JsonNumber {
  uint64_t digits = 0;
  int exponent = 0;
  bool negative = false;
  bool whole = true;  // written without point and exponent
  bool fits = true;
};

class JsonReader {
 public:
  JsonReader(const char* at, const char* end) : at_(at), end_(end) {}

  const char* at() const { return at_; }

  // The next byte that is no blank, not yet taken; kMore at the end.
  Json peek(char& next) {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    if (at_ == end_) return Json::kMore;
    next = *at_;
    return Json::kDone;
  }
  void take() { ++at_; }  // what peek() saw
  Json expect(char wanted);
  Json text(JsonText& found);      // at its opening quote
  Json number(JsonNumber& found);  // at its first digit or sign
  Json skip(int depth = 0);        // any value

  // The members of an object, which begins here: member(key) reads each value.
  template <typename Member>
  Json object(Member member);
  // The elements of an array, which begins here: element() reads each.
  template <typename Element>
  Json array(Element element);

 private:
  Json escape();
  Json literal();

  const char* at_;
  const char* end_;
};

template <typename Member>
Json JsonReader::object(Member member) {
  take();
  char next = 0;
  if (Json r = peek(next); r != Json::kDone) return r;
  if (next == '}') {
    take();
    return Json::kDone;
  }
  while (true) {
    if (Json r = peek(next); r != Json::kDone) return r;
    if (next != '"') return Json::kOdd;
    JsonText key;
    if (Json r = text(key); r != Json::kDone) return r;
    if (Json r = expect(':'); r != Json::kDone) return r;
    if (Json r = peek(next); r != Json::kDone) return r;
    if (Json r = member(key); r != Json::kDone) return r;
    if (Json r = peek(next); r != Json::kDone) return r;
    take();
    if (next == '}') return Json::kDone;
    if (next != ',') return Json::kOdd;
  }
}

template <typename Element>
Json JsonReader::array(Element element) {
  take();
  char next = 0;
  if (Json r = peek(next); r != Json::kDone) return r;
  if (next == ']') {
    take();
    return Json::kDone;
  }
  while (true) {
    if (Json r = peek(next); r != Json::kDone) return r;
    if (Json r = element(); r != Json::kDone) return r;
    if (Json r = peek(next); r != Json::kDone) return r;
    take();
    if (next == ']') return Json::kDone;
    if (next != ',') return Json::kOdd;
  }
}

// A number as the nearest double, ties to even; false where that takes more than 128 bits to tell.
bool nearest(const JsonNumber& number, double& found);

}  // namespace loops
