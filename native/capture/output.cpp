#include "output.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace capture {

std::optional<Config> read_config() {
  const char* folder = std::getenv("ROCM_PERF_CAPTURE");
  if (!folder || !*folder) return {};
  Config config;
  config.folder = folder;
  std::ifstream in(config.folder + "/config");
  if (!in) return {};
  for (std::string line; std::getline(in, line);) {
    const size_t space = line.find(' ');
    const std::string key = line.substr(0, space), value = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "kernel") config.regex = value;
    else if (key == "index") config.wants.push_back({"", std::strtoull(value.c_str(), nullptr, 10), ""});
    else if (key == "want") {
      std::istringstream words(value);
      Want want;
      words >> want.place >> want.index >> want.max_bytes >> want.name;
      want.place += "/";
      config.wants.push_back(want);
    } else if (key == "launches") config.launches = true;
    else if (key == "max") config.max_bytes = std::strtoull(value.c_str(), nullptr, 10);
  }
  return config;
}

std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = bytes.empty() ? "-" : "";
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[c & 15];
  }
  return text;
}

void Output::fail(const std::string& name) {
  const int code = errno;
  std::lock_guard lock(mutex_);
  if (error_.empty()) error_ = name + ": " + std::strerror(code);
}

std::string Output::error() const {
  std::lock_guard lock(mutex_);
  return error_;
}

File::File(Output& output, std::string name) : output_(output), name_(std::move(name)) {
  descriptor_ = open(output_.path(name_).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor_ < 0) output_.fail(name_);
}

File::~File() { close(); }

// A file that reaches the user's limit is an error to tell, not a reason to end the program.
class WithoutSizeSignal {
 public:
  WithoutSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~WithoutSizeSignal() {
    const timespec none{};
    while (sigtimedwait(&signal_, nullptr, &none) > 0) {}
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signal_, before_;
};

bool File::write(const void* data, size_t size) {
  if (descriptor_ < 0 || !output_.error().empty()) return false;
  const WithoutSizeSignal quiet;
  const char* at = static_cast<const char*>(data);
  while (size) {
    const ssize_t wrote = ::write(descriptor_, at, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      if (wrote == 0) errno = ENOSPC;
      output_.fail(name_);
      return false;
    }
    at += wrote;
    size -= size_t(wrote);
    size_ += uint64_t(wrote);
  }
  return true;
}

bool File::close() {
  if (descriptor_ < 0) return output_.error().empty();
  if (::close(descriptor_) != 0) output_.fail(name_);
  descriptor_ = -1;
  return output_.error().empty();
}

bool Output::read_back(const std::string& name, uint64_t at, void* data, size_t size) {
  const int descriptor = open(path(name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return fail(name), false;
  size_t done = 0;
  while (done < size) {
    const ssize_t got = pread(descriptor, static_cast<char*>(data) + done, size - done, off_t(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (got == 0) errno = EIO;
      fail(name);
      break;
    }
    done += size_t(got);
  }
  ::close(descriptor);
  return done == size;
}

void Output::append_line(const std::string& name, const std::string& line) {
  const int descriptor = open(path(name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return;
  const std::string text = line + "\n";
  if (::write(descriptor, text.data(), text.size()) != ssize_t(text.size())) fail(name);
  ::close(descriptor);
}

}  // namespace capture
