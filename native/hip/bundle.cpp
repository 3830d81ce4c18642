#include "bundle.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>

#include "code_object.h"
#include "decompress.h"

namespace hip {

namespace {

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr uint64_t kAnySize = uint64_t{1} << 40;  // of an image whose size nobody told

template <class T> T read_at(const char* data, size_t offset) {
  T value;
  std::memcpy(&value, data + offset, sizeof value);
  return value;
}

// The devices that a generic target covers.
const std::map<std::string, std::vector<std::string>> kGeneric = {
    {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
    {"gfx9-4-generic", {"gfx940", "gfx941", "gfx942", "gfx950"}},
};

struct Target {
  std::string processor;
  std::map<std::string, char> features;  // "xnack" -> '+' or '-'
};

Target parse_target(const std::string& text) {
  Target target;
  size_t colon = text.find(':');
  target.processor = text.substr(0, colon);
  while (colon != std::string::npos) {
    size_t next = text.find(':', colon + 1);
    std::string feature = text.substr(colon + 1, next - colon - 1);
    if (feature.size() > 1) {
      char sign = feature.back();
      feature.pop_back();
      target.features[feature] = sign;
    }
    colon = next;
  }
  return target;
}

// "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-" -> "gfx942:xnack-"; host entries give "".
std::string entry_target(std::string_view id) {
  size_t at = id.find("gfx");
  return at == std::string_view::npos ? std::string() : std::string(id.substr(at));
}

// The targets of EF_AMDGPU_MACH that the runtime meets; others are left to the loader to judge.
std::string elf_target(const char* data) {
  auto flags = reinterpret_cast<const Elf64_Ehdr*>(data)->e_flags;
  switch (flags & 0xff) {
    case 0x3f: return "gfx90a";
    case 0x4c: return "gfx942";
    case 0x4f: return "gfx950";
    case 0x5f: return "gfx9-4-generic";
    default: return "";
  }
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
  return decompress(method == 0 ? Compression::Zlib : Compression::Zstd, data + header,
                    total - header, plain_size, plain, why);
}

}  // namespace

int target_rank(const std::string& built, const std::string& wanted) {
  Target code = parse_target(built), device = parse_target(wanted);
  int rank = 1;
  if (code.processor == device.processor) {
    rank = 8;
  } else {
    auto generic = kGeneric.find(code.processor);
    if (generic == kGeneric.end()) return 0;
    bool covered = false;
    for (const std::string& processor : generic->second) covered |= processor == device.processor;
    if (!covered) return 0;
  }
  for (const auto& [feature, sign] : code.features) {
    auto have = device.features.find(feature);
    if (have != device.features.end() && have->second != sign) return 0;
    ++rank;
  }
  return rank;
}

BundleStatus select_image(const void* source, size_t size, const std::string& target, Image& image,
                          std::string& why) {
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
  if (std::memcmp(data, ELFMAG, SELFMAG) == 0) {
    std::string built = elf_target(data);
    if (!built.empty() && target_rank(built, target) == 0) {
      why = "the code object is for " + built + ", the device is " + target;
      return BundleStatus::NoBinary;
    }
    image.data = data;
    image.size = size_known || !image.owned.empty() ? size : elf_size(data);
    return BundleStatus::Found;
  }
  if (size < kBundleMagic.size() + 8 ||
      std::memcmp(data, kBundleMagic.data(), kBundleMagic.size()) != 0) {
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
    std::string built = entry_target({data + at, id_bytes});
    at += id_bytes;
    if (built.empty()) continue;
    listed += (listed.empty() ? "" : ", ") + built;
    int rank = target_rank(built, target);
    if (rank <= best || bytes == 0) continue;
    best = rank;
    image.data = data + offset;
    image.size = bytes;
  }
  if (best > 0) {
    // An entry may be a compressed code object of its own.
    if (image.size > 4 &&
        std::memcmp(image.data, kCompressedMagic.data(), kCompressedMagic.size()) == 0) {
      std::string plain;
      if (!unpack(image.data, image.size, plain, why)) return BundleStatus::Invalid;
      image.owned = std::move(plain);
      image.data = image.owned.data();
      image.size = image.owned.size();
    }
    return BundleStatus::Found;
  }
  why = "no code object for " + target + "; the program has " +
        (listed.empty() ? std::string("no device code") : listed);
  return BundleStatus::NoBinary;
}

}  // namespace hip
