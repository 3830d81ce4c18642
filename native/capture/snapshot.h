// Memory before and after the kernel: zeros are not stored, equal chunks are stored once, and of
// what is there afterwards only what differs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "content_hash.h"
#include "output.h"
#include "reader.h"

namespace capture {

struct Extent {
  uint64_t offset, size;
  int64_t file;  // number of the file; -1: zeros
  uint64_t at;
};

struct Area {
  uint64_t base = 0, size = 0;
  uint64_t read_at = 0;
  uint64_t agent = 0;                   // whose memory it is; 0 if not known
  std::string before_name, after_name;  // files, made when there is something to store
  bool scan = true;                     // for pointers into code
  std::vector<Extent> before, after;
  std::vector<gpu::ContentHash> hashes;
  std::string failure;                  // why it could not be read
};

struct CodeRange {
  uint64_t begin, end, number;
};
struct CodePointer {
  uint64_t address, value, code;
};

class Snapshot {
 public:
  explicit Snapshot(std::vector<CodeRange> code);

  // False: a file could not be written. An area that cannot be read says so in `failure`.
  bool before(Area& area);
  bool after(Area& area);

  const std::vector<std::string>& files() const { return names_; }
  const std::vector<CodePointer>& pointers() const { return pointers_; }
  uint64_t pointer_count() const { return pointer_count_; }

 private:
  struct Place {
    int64_t file;
    uint64_t at;
  };
  struct Key {
    gpu::ContentHash hash;
    uint64_t size;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return key.hash[0] ^ key.hash[2]; }
  };

  template <class Visit>
  bool walk(Area& area, Visit visit);
  void store(Area& area, std::vector<Extent>& list, uint64_t offset, const uint8_t* data, uint64_t size,
             const Key* key);
  bool same_as_stored(const Place& place, const uint8_t* data, uint64_t size);
  bool read_stored(const Area& area, uint64_t offset, uint64_t size, uint8_t* data);
  void scan(uint64_t address, const uint8_t* data, uint64_t size);
  void changes(Area& area, uint64_t offset, const uint8_t* old, const uint8_t* now, uint64_t size);

  std::vector<CodeRange> code_;
  std::vector<CodePointer> pointers_;
  uint64_t pointer_count_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<Key, Place, KeyHash> stored_;
  std::unique_ptr<File> file_;  // the one being written: of one area
  int64_t file_number_ = -1;
  Reader reader_;
  std::vector<uint8_t> other_;
};

}  // namespace capture
