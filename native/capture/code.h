// Code objects and their kernels, as they are loaded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace capture {

struct LoadedCode {
  uint64_t number = 0;  // in the order of loading
  uint64_t executable = 0, agent = 0;
  uint64_t base = 0, size = 0;
  int64_t delta = 0;
  std::string uri;
  std::shared_ptr<const std::string> image;  // the file; null where it could not be had
};

struct Kernel {
  std::string name, demangled;
  uint64_t object = 0, executable = 0;
  uint32_t kernarg_bytes = 0;
  bool wanted = false;               // its name matches
  std::shared_ptr<uint64_t> launches;  // of all kernels of this name; under the books' lock
};

class CodeBooks {
 public:
  static void hook();

  // Counts a launch of the kernel; `index` is its number among the launches of that name. Null: unknown.
  std::shared_ptr<const Kernel> launched(uint64_t object, uint64_t& index);

  std::vector<LoadedCode> loaded();
  // Every kernel that was launched and how often.
  std::vector<std::pair<std::string, uint64_t>> launch_counts();

  using File = std::shared_ptr<const std::string>;
  void keep(uint64_t reader, File file);
  void forget_reader(uint64_t reader);
  void load(uint64_t executable, uint64_t reader);
  void freeze(uint64_t executable, std::vector<LoadedCode> code, const std::vector<std::shared_ptr<Kernel>>& kernels);
  void forget_executable(uint64_t executable);

 private:
  std::mutex mutex_;
  std::map<uint64_t, File> readers_;                          // reader -> its file
  std::multimap<uint64_t, File> images_;                      // executable -> files loaded into it
  std::map<uint64_t, std::vector<LoadedCode>> loaded_;        // by executable
  std::map<uint64_t, std::shared_ptr<Kernel>> kernels_;       // by kernel object
  std::map<std::string, std::shared_ptr<uint64_t>> counts_;   // by name
  uint64_t next_number_ = 0;
};

}  // namespace capture
