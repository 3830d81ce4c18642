#include "device_printf.h"

#include <cstdio>
#include <cstring>

namespace hip {

namespace {

constexpr uint64_t kBegin = 1, kEnd = 2;
constexpr int kLengthShift = 5, kIdShift = 8;

// Reads words one after another; past the end it reads zeros.
class Words {
 public:
  Words(const uint64_t* words, size_t count) : next_(words), end_(words + count) {}
  uint64_t word() { return next_ < end_ ? *next_++ : 0; }
  std::string string() {
    const char* text = reinterpret_cast<const char*>(next_);
    size_t room = size_t(end_ - next_) * 8;
    size_t length = strnlen(text, room);
    std::string result(text, length);
    next_ += std::min<size_t>((length + 8) / 8, size_t(end_ - next_));
    return result;
  }

 private:
  const uint64_t* next_;
  const uint64_t* end_;
};

template <class T>
std::string print(const std::string& specification, T value) {
  int size = std::snprintf(nullptr, 0, specification.c_str(), value);
  if (size < 0) return {};
  std::string text(size_t(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), specification.c_str(), value);
  text.pop_back();
  return text;
}

double as_double(uint64_t word) {
  double value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

// Integers arrive widened to 64 bits: the length modifier says how much of that counts.
std::string print_integer(const std::string& flags, const std::string& modifier, char conversion, uint64_t word) {
  const bool is_signed = conversion == 'd' || conversion == 'i';
  int bytes = modifier == "hh" ? 1 : modifier == "h" ? 2 : modifier.empty() ? 4 : 8;
  if (bytes < 8) {
    int shift = 64 - 8 * bytes;
    word = is_signed ? uint64_t(int64_t(word << shift) >> shift) : word << shift >> shift;
  }
  std::string specification = flags + "ll" + conversion;
  return is_signed ? print(specification, static_cast<long long>(word))
                   : print(specification, static_cast<unsigned long long>(word));
}

}  // namespace

std::string format_message(const uint64_t* words, size_t count) {
  Words input(words, count);
  const std::string format = input.string();
  std::string output;
  for (size_t i = 0; i < format.size();) {
    if (format[i] != '%') {
      output += format[i++];
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      output += '%';
      i += 2;
      continue;
    }
    std::string flags = "%";
    size_t at = i + 1;
    auto number_or_star = [&] {
      if (at < format.size() && format[at] == '*') {
        flags += std::to_string(int(input.word()));
        ++at;
      } else {
        while (at < format.size() && format[at] >= '0' && format[at] <= '9') flags += format[at++];
      }
    };
    while (at < format.size() && std::strchr("-+ #0", format[at])) flags += format[at++];
    number_or_star();
    if (at < format.size() && format[at] == '.') {
      flags += format[at++];
      number_or_star();
    }
    std::string modifier;
    while (at < format.size() && std::strchr("hljztLq", format[at])) modifier += format[at++];
    if (at >= format.size()) {
      output += format.substr(i);
      break;
    }
    const char conversion = format[at++];
    switch (conversion) {
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X': output += print_integer(flags, modifier, conversion, input.word()); break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': output += print(flags + conversion, as_double(input.word())); break;
      case 'c': output += print(flags + 'c', int(input.word())); break;
      case 's': output += print(flags + 's', input.string().c_str()); break;
      case 'p': output += print(flags + 'p', reinterpret_cast<void*>(input.word())); break;
      case 'n': input.word(); break;  // a device address; nothing is written there
      default: output += format.substr(i, at - i);
    }
    i = at;
  }
  return output;
}

PrintfMessages::Output PrintfMessages::handle(uint64_t* words) {
  const uint64_t descriptor = words[0];
  const size_t length = (descriptor >> kLengthShift) & 7;
  size_t id = descriptor >> kIdShift;
  if (descriptor & kBegin) {
    if (free_.empty()) {
      free_.push_back(messages_.size());
      messages_.emplace_back();
    }
    id = free_.back();
    free_.pop_back();
    messages_[id].open = true;
    messages_[id].words.clear();
  }
  if (id >= messages_.size() || !messages_[id].open) {
    words[0] = uint64_t(-1);  // printf's failure
    return {};
  }
  Message& message = messages_[id];
  message.words.insert(message.words.end(), words + 1, words + 1 + length);
  if (!(descriptor & kEnd)) {
    words[0] = (descriptor & ((uint64_t{1} << kIdShift) - 1) & ~kBegin) | uint64_t(id) << kIdShift;
    return {};
  }
  Output output;
  output.complete = true;
  if (!message.words.empty()) {
    output.to_stderr = message.words[0] & 1;
    output.text = format_message(message.words.data() + 1, message.words.size() - 1);
  }
  message.open = false;
  free_.push_back(id);
  words[0] = output.text.size();
  return output;
}

}  // namespace hip
