// What the tool leaves in the capture's folder: data files, and lines of words for the command that
// finishes the capture. Strings in lines are in hexadecimal.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
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
std::optional<Config> read_config();  // none: nobody asked for a capture

std::string hex(std::string_view bytes);

// The capture's folder. The first failure of a file is kept; everything after it is skipped.
class Output {
 public:
  explicit Output(std::string folder) : folder_(std::move(folder)) {}

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // Appends one line to a file by one system call.
  void append_line(const std::string& name, const std::string& line);
  bool read_back(const std::string& name, uint64_t at, void* data, size_t size);

  void fail(const std::string& name);  // as errno says
  std::string error() const;           // empty if nothing went wrong

 private:
  const std::string folder_;
  mutable std::mutex mutex_;
  std::string error_;
};

// A file that only its owner may read.
class File {
 public:
  File(Output& output, std::string name);  // must not exist
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool write(const void* data, size_t size);
  bool close();  // also false if any write failed
  uint64_t size() const { return size_; }
  const std::string& name() const { return name_; }

 private:
  Output& output_;
  std::string name_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace capture
