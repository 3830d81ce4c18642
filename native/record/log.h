// One process's log: a JSON object per line, each written by one system call, so that whatever
// ends the process leaves whole records. After a fork the child begins a log of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace record {

class Line {
 public:
  explicit Line(std::string_view kind) {
    text_ = "{\"r\":\"";
    text_ += kind;
    text_ += '"';
  }

  Line& number(std::string_view key, uint64_t value) { return name(key), text_ += std::to_string(value), *this; }
  Line& integer(std::string_view key, int64_t value) { return name(key), text_ += std::to_string(value), *this; }
  Line& real(std::string_view key, double value) { return name(key), append_real(value), *this; }
  Line& string(std::string_view key, std::string_view value) { return name(key), append_string(value), *this; }
  template <class T>
  Line& three(std::string_view key, const T* values) {
    name(key);
    text_ += '[' + std::to_string(values[0]) + ',' + std::to_string(values[1]) + ',' + std::to_string(values[2]) + ']';
    return *this;
  }
  // For lists: open(key) ... close(']') with the pieces between.
  Line& open(std::string_view key, char bracket) { return name(key), text_ += bracket, *this; }
  Line& close(char bracket) { return text_ += bracket, *this; }
  void comma() {
    if (char last = text_.back(); last != '[' && last != '{') text_ += ',';
  }
  void append_number(uint64_t value) {
    comma();
    text_ += std::to_string(value);
  }
  void append_string(std::string_view value);
  void append_real(double value);
  void append(char c) { text_ += c; }
  void name(std::string_view key);

  const std::string& whole();  // nothing can be added to it
  void write();                // to the log of this process

 private:
  std::string text_;
};

// Where logs go; false without one. Safe to call again.
bool start(const char* folder);
const std::string& folder();
uint64_t thread_id();
// Bytes beside the log, under a name unique to the process; the name, empty on failure.
std::string save(std::string_view stem, const void* data, size_t size);

}  // namespace record
