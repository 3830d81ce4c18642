// What the tool leaves in the capture's folder: data files, and lines of words for the command that
// finishes the capture. Strings in lines are in hexadecimal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace capture {

// One launch to capture: the index-th of a kernel of this name, or where none is given of one that
// the pattern matches. Its files go to a folder of the folder, or into the folder itself.
struct Want {
  std::string name;
  uint64_t index = 0;
  std::string place;  // empty, or ends with a slash
  uint64_t max_bytes = UINT64_MAX;
};

// Where to write and what to look for; from ROCM_PERF_CAPTURE, the folder with the file `config`.
struct Config {
  std::string folder;
  std::string regex;
  std::vector<Want> wants;
  bool launches = false;  // write down how every kernel is launched
  uint64_t max_bytes = UINT64_MAX;
};
bool read_config(Config& config);  // false: nobody asked for a capture
const Config& config();

std::string hex(std::string_view bytes);

// A file that only its owner may read. The first failure is kept; everything after it is skipped.
class File {
 public:
  explicit File(std::string name);  // in the folder; must not exist
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool write(const void* data, size_t size);
  bool close();  // also false if any write failed
  uint64_t size() const { return size_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

// What went wrong with a file, once: empty if nothing did.
const std::string& write_error();

bool read_back(const std::string& name, uint64_t at, void* data, size_t size);

// Appends one line to a file of the folder by one system call.
void append_line(const std::string& name, const std::string& line);

}  // namespace capture
