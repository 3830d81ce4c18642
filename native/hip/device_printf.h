// printf on behalf of a kernel: the format and its arguments come as 64-bit words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hip {

// The text of a message whose words are the format string and the arguments (docs/hostcall.md).
std::string format_message(const uint64_t* words, size_t count);

// Collects the packets of printf messages of all lanes until each one's last.
class PrintfMessages {
 public:
  struct Output {
    bool complete = false, to_stderr = false;
    std::string text;
  };
  // Handles one lane's eight words and writes the answer into them.
  Output handle(uint64_t* words);

 private:
  struct Message {
    bool open = false;
    std::vector<uint64_t> words;
  };
  std::vector<Message> messages_;
  std::vector<size_t> free_;
};

}  // namespace hip
