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
#include <mutex>
#include <sstream>

namespace capture {

namespace {

std::mutex error_mutex;
std::string& error = *new std::string;

void fail(const std::string& name) {
  const int code = errno;
  std::lock_guard lock(error_mutex);
  if (error.empty()) error = name + ": " + std::strerror(code);
}

std::string path(const std::string& name) { return config().folder + "/" + name; }

Config& given = *new Config;

}  // namespace

bool read_config(Config& config) {
  const char* folder = std::getenv("ROCM_PERF_CAPTURE");
  if (!folder || !*folder) return false;
  config.folder = folder;
  std::ifstream in(config.folder + "/config");
  if (!in) return false;
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
  given = config;
  return true;
}

const Config& config() { return given; }

std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = bytes.empty() ? "-" : "";
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[c & 15];
  }
  return text;
}

File::File(std::string name) : name_(std::move(name)) {
  descriptor_ = open(path(name_).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor_ < 0) fail(name_);
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
  if (descriptor_ < 0 || !write_error().empty()) return false;
  const WithoutSizeSignal quiet;
  const char* at = static_cast<const char*>(data);
  while (size) {
    const ssize_t wrote = ::write(descriptor_, at, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      if (wrote == 0) errno = ENOSPC;
      fail(name_);
      return false;
    }
    at += wrote;
    size -= size_t(wrote);
    size_ += uint64_t(wrote);
  }
  return true;
}

bool File::close() {
  if (descriptor_ < 0) return write_error().empty();
  if (::close(descriptor_) != 0) fail(name_);
  descriptor_ = -1;
  return write_error().empty();
}

const std::string& write_error() { return error; }

bool read_back(const std::string& name, uint64_t at, void* data, size_t size) {
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

void append_line(const std::string& name, const std::string& line) {
  const int descriptor = open(path(name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return;
  const std::string text = line + "\n";
  if (::write(descriptor, text.data(), text.size()) != ssize_t(text.size())) fail(name);
  ::close(descriptor);
}

}  // namespace capture
