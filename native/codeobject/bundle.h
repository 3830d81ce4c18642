// Fat binaries: which code object in them is the one for a device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace codeobject {

struct Image {
  const char* data = nullptr;
  size_t size = 0;
  std::string owned;  // holds the bytes where they had to be decompressed
  std::vector<std::string> built_for;  // the processors there is code for, where none is the target
};

enum class BundleStatus { Found, NoBinary, Invalid };

// Picks the code object for `target` ("gfx942:sramecc+:xnack-") out of a clang offload bundle, a
// compressed one or a plain ELF code object. `size` is 0 where the caller does not know it.
BundleStatus select_image(const void* data, size_t size, const std::string& target, Image& image, std::string& why);

}  // namespace codeobject
