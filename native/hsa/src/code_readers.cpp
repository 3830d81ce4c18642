// Readers of code objects: from a file, a part of one, or memory.
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "executables.h"
#include "hsa_impl.h"

namespace {

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, pattern, arguments...);
  return buffer;
}

hsa_status_t make_file_reader(int file, size_t offset, size_t size, hsa_code_object_reader_t* reader) {
  if (!Runtime::get()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!reader) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto made = std::make_unique<Reader>();
  made->own.resize(size);
  for (size_t done = 0; done < size;) {
    const ssize_t got = pread(file, made->own.data() + done, size - done, off_t(offset + done));
    if (got <= 0) return HSA_STATUS_ERROR_INVALID_FILE;
    done += size_t(got);
  }
  made->size = size;
  made->file = file;
  char path[4096] = "";
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path - 1);
  made->uri =
      "file://" + std::string(path, length > 0 ? size_t(length) : 0) + format("#offset=%zu&size=%zu", offset, size);
  Lock lock(books().mutex);
  reader->handle = reinterpret_cast<uint64_t>(made.get());
  books().readers.insert(made.release());
  return HSA_STATUS_SUCCESS;
}

}  // namespace

namespace impl {

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t* reader) {
  struct stat info;
  if (fstat(file, &info) != 0 || info.st_size <= 0) return HSA_STATUS_ERROR_INVALID_FILE;
  return make_file_reader(file, 0, size_t(info.st_size), reader);
}
hsa_status_t hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(hsa_file_t file, size_t offset,
                                                                                     size_t size,
                                                                                     hsa_code_object_reader_t* reader) {
  struct stat info;
  if (fstat(file, &info) != 0 || !size || offset > size_t(info.st_size) || size > size_t(info.st_size) - offset)
    return HSA_STATUS_ERROR_INVALID_FILE;
  return make_file_reader(file, offset, size, reader);
}
hsa_status_t hsa_code_object_reader_create_from_memory(const void* image, size_t size,
                                                       hsa_code_object_reader_t* reader) {
  if (!Runtime::get()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!image || !size || !reader) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto made = std::make_unique<Reader>();
  made->bytes = static_cast<const uint8_t*>(image);
  made->size = size;
  made->uri =
      format("memory://%d#offset=%#" PRIxPTR "&size=%zu", int(getpid()), reinterpret_cast<uintptr_t>(image), size);
  Lock lock(books().mutex);
  reader->handle = reinterpret_cast<uint64_t>(made.get());
  books().readers.insert(made.release());
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  Lock lock(books().mutex);
  Reader* found = in(books().readers, reader);
  if (!found) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  books().readers.erase(found);
  delete found;
  return HSA_STATUS_SUCCESS;
}

}  // namespace impl
