#include "bundle.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "architecture.h"
#include "decompress.h"
#include "elf.h"

namespace codeobject {

namespace {

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr uint64_t kAnySize = uint64_t{1} << 40;  // of an image whose size nobody told

template <class T>
T read_at(const char* data, size_t offset) {
  T value;
  std::memcpy(&value, data + offset, sizeof value);
  return value;
}

// Size, method and place of the compressed bytes behind the header of a CCOB image.
bool unpack(const char* data, size_t size, std::string& plain, std::string& why) {
  if (size < 20) {
    why = "the compressed bundle is cut short";
    return false;
  }
  auto version = read_at<uint16_t>(data, 4);
  auto method = read_at<uint16_t>(data, 6);
  uint64_t total = 0, plain_size = 0;
  size_t header = 0;
  if (version == 1) {
    plain_size = read_at<uint32_t>(data, 8);
    header = 20;
  } else if (version == 2) {
    total = read_at<uint32_t>(data, 8);
    plain_size = read_at<uint32_t>(data, 12);
    header = 24;
  } else if (version == 3) {
    total = read_at<uint64_t>(data, 8);
    plain_size = read_at<uint64_t>(data, 16);
    header = 32;
  } else {
    why = "the compressed bundle has version " + std::to_string(version) + "; 1 to 3 are known";
    return false;
  }
  if (total == 0) total = size;
  if (total > size || total < header || plain_size > (uint64_t{1} << 36)) {
    why = "the compressed bundle is cut short";
    return false;
  }
  return decompress(method == 0 ? Compression::Zlib : Compression::Zstd, data + header, total - header, plain_size,
                    plain, why);
}

}  // namespace

BundleStatus select_image(const void* source, size_t size, const std::string& target, Image& image, std::string& why) {
  const char* data = static_cast<const char*>(source);
  const bool size_known = size != 0;
  if (!size_known) size = kAnySize;
  if (size < 32) {
    why = "the image is too short to be a code object";
    return BundleStatus::Invalid;
  }
  if (std::memcmp(data, kCompressedMagic.data(), kCompressedMagic.size()) == 0) {
    if (!unpack(data, size, image.owned, why)) return BundleStatus::Invalid;
    data = image.owned.data();
    size = image.owned.size();
  }
  if (std::memcmp(data, "\177ELF", 4) == 0) {
    uint32_t flags;
    constexpr size_t kFlagsOffset = 48;  // e_flags of a 64-bit header
    if (size < kFlagsOffset + sizeof flags) {
      why = "the image is too short to be a code object";
      return BundleStatus::Invalid;
    }
    std::memcpy(&flags, data + kFlagsOffset, sizeof flags);
    const std::string built(machine(flags));  // "": the loader judges
    if (!built.empty() && target_rank(built, target) == 0) {
      image.built_for = {built};
      why = "the code object is for " + built + ", the device is " + target;
      return BundleStatus::NoBinary;
    }
    image.data = data;
    image.size = size_known || !image.owned.empty() ? size : elf::image_size(data);
    return BundleStatus::Found;
  }
  if (size < kBundleMagic.size() + 8 || std::memcmp(data, kBundleMagic.data(), kBundleMagic.size()) != 0) {
    why = "the image is neither an ELF code object nor a clang offload bundle";
    return BundleStatus::Invalid;
  }
  auto count = read_at<uint64_t>(data, kBundleMagic.size());
  size_t at = kBundleMagic.size() + 8;
  int best = 0;
  std::string listed;
  for (uint64_t i = 0; i < count && i < 4096; ++i) {
    if (at + 24 > size) {
      why = "the offload bundle is damaged";
      return BundleStatus::Invalid;
    }
    auto offset = read_at<uint64_t>(data, at);
    auto bytes = read_at<uint64_t>(data, at + 8);
    auto id_bytes = read_at<uint64_t>(data, at + 16);
    at += 24;
    if (id_bytes > 4096 || at + id_bytes > size || offset > size || bytes > size - offset) {
      why = "the offload bundle is damaged";
      return BundleStatus::Invalid;
    }
    std::string built = processor({data + at, id_bytes});
    at += id_bytes;
    if (built.empty()) continue;
    image.built_for.push_back(built);
    listed += (listed.empty() ? "" : ", ") + built;
    int rank = target_rank(built, target);
    if (rank <= best || bytes == 0) continue;
    best = rank;
    image.data = data + offset;
    image.size = bytes;
  }
  if (best > 0) {
    // An entry may be a compressed code object of its own.
    if (image.size > 4 && std::memcmp(image.data, kCompressedMagic.data(), kCompressedMagic.size()) == 0) {
      std::string plain;
      if (!unpack(image.data, image.size, plain, why)) return BundleStatus::Invalid;
      image.owned = std::move(plain);
      image.data = image.owned.data();
      image.size = image.owned.size();
    }
    return BundleStatus::Found;
  }
  why =
      "no code object for " + target + "; the program has " + (listed.empty() ? std::string("no device code") : listed);
  return BundleStatus::NoBinary;
}

}  // namespace codeobject
