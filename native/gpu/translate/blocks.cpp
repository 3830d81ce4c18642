#include "blocks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "word_hash.h"

namespace gpu::translate {
namespace {

// At the end of a file: what compile.py writes when all before it is there.
struct Seal {
  char magic[8];
  uint64_t hash;
};
constexpr char kMagic[8] = {'r', 'p', 'l', 'b', 'l', 'k', '0', '1'};
constexpr off_t kMostBytes = 256 << 20;

struct Entry {
  int64_t at;  // words after the kernel's entry
  BlockFn run;
};

bool sound(int file) {
  struct stat found{};
  if (fstat(file, &found) || !S_ISREG(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & 022) ||
      found.st_size <= off_t(sizeof(Seal)) || found.st_size > kMostBytes)
    return false;
  std::vector<char> bytes(size_t(found.st_size));
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got = pread(file, bytes.data() + done, bytes.size() - done, off_t(done));
    if (got <= 0) return false;
    done += size_t(got);
  }
  Seal seal{};
  const size_t whole = bytes.size() - sizeof seal;
  std::memcpy(&seal, bytes.data() + whole, sizeof seal);
  return !std::memcmp(seal.magic, kMagic, sizeof kMagic) && seal.hash == word_hash(bytes.data(), whole);
}

}  // namespace

std::unique_ptr<Library> Library::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return nullptr;
  const bool good = sound(file);
  ::close(file);
  // By its own name: the loader takes two files of one name, as those of a descriptor are, for the same.
  void* handle = good ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  return handle ? std::unique_ptr<Library>(new Library(handle)) : nullptr;
}

size_t Library::install(Program& program, uint64_t entry) const {
  const auto* blocks = static_cast<const Entry*>(dlsym(handle_, "rpl_blocks"));
  const auto* count = static_cast<const uint64_t*>(dlsym(handle_, "rpl_block_count"));
  if (!blocks || !count) return 0;
  for (uint64_t n = 0; n < *count; ++n) program.install(entry + uint64_t(blocks[n].at) * 4, blocks[n].run);
  return *count;
}

}  // namespace gpu::translate
