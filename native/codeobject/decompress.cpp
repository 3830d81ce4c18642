#include "decompress.h"

#include <dlfcn.h>

namespace codeobject {

namespace {

void* open_any(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

template <class F>
F symbol(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

bool zstd(const char* data, size_t size, std::string& plain, std::string& why) {
  static void* library = open_any({"libzstd.so.1", "libzstd.so"});
  if (!library) {
    why =
        "the program's device code is compressed with zstd and libzstd.so.1 is not installed; "
        "install it, or build the program with -no-offload-compress";
    return false;
  }
  auto run = symbol<size_t (*)(void*, size_t, const void*, size_t)>(library, "ZSTD_decompress");
  auto failed = symbol<unsigned (*)(size_t)>(library, "ZSTD_isError");
  auto frame = symbol<size_t (*)(const void*, size_t)>(library, "ZSTD_findFrameCompressedSize");
  if (!run || !failed) {
    why = "libzstd.so.1 lacks ZSTD_decompress";
    return false;
  }
  // A header without the file's size leaves only the frame to say where it ends.
  if (frame) {
    size_t exact = frame(data, size);
    if (!failed(exact)) size = exact;
  }
  size_t written = run(plain.data(), plain.size(), data, size);
  if (failed(written) || written != plain.size()) {
    why = "the compressed bundle is damaged (zstd)";
    return false;
  }
  return true;
}

bool zlib(const char* data, size_t size, std::string& plain, std::string& why) {
  static void* library = open_any({"libz.so.1", "libz.so"});
  if (!library) {
    why = "the program's device code is compressed with zlib and libz.so.1 is not installed";
    return false;
  }
  auto run =
      symbol<int (*)(unsigned char*, unsigned long*, const unsigned char*, unsigned long)>(library, "uncompress");
  unsigned long written = plain.size();
  if (!run ||
      run(reinterpret_cast<unsigned char*>(plain.data()), &written, reinterpret_cast<const unsigned char*>(data),
          size) != 0 ||
      written != plain.size()) {
    why = "the compressed bundle is damaged (zlib)";
    return false;
  }
  return true;
}

}  // namespace

bool decompress(Compression method, const char* data, size_t size, size_t plain_size, std::string& plain,
                std::string& why) {
  plain.resize(plain_size);
  return method == Compression::Zstd ? zstd(data, size, plain, why) : zlib(data, size, plain, why);
}

}  // namespace codeobject
