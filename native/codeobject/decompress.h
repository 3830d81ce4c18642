// Compressed bundles. The decoders are the system's libzstd and libz, opened when one is needed.
#pragma once

#include <cstddef>
#include <string>

namespace codeobject {

enum class Compression { Zlib, Zstd };

// `size` may be larger than the compressed stream; `plain_size` is the size to expect.
bool decompress(Compression method, const char* data, size_t size, size_t plain_size, std::string& plain,
                std::string& why);

}  // namespace codeobject
