#include "log.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace record {

namespace {

std::mutex mutex;
auto& directory = *new std::string;  // never destroyed: a program may end before its kernels do
int file = -1;
bool failed = false;
unsigned saved = 0;

uint64_t real_time() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

std::string command_line() {
  std::string text;
  if (FILE* in = std::fopen("/proc/self/cmdline", "r")) {
    char part[4096];
    while (size_t got = std::fread(part, 1, sizeof part, in)) text.append(part, got);
    std::fclose(in);
  }
  return text;
}

// A log that could not be written to its end is marked by its mode: that needs no space.
void fail(const char* what) {
  if (failed) return;
  failed = true;
  std::fprintf(stderr, "rocm-perf: the recording stops here: %s: %s\n", what, std::strerror(errno));
  if (file >= 0) fchmod(file, 0400);
}

bool put(int to, const char* data, size_t size) {
  while (size) {
    const ssize_t wrote = ::write(to, data, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    data += wrote;
    size -= size_t(wrote);
  }
  return true;
}

void put_line(const std::string& text) {
  if (!failed && !put(file, text.data(), text.size())) fail("the log");
}

void open_log() {
  const std::string path = directory + "/" + std::to_string(getpid()) + ".log";
  file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return fail(path.c_str());
  Line line("process");
  line.number("pid", uint64_t(getpid())).number("ppid", uint64_t(getppid())).number("real", real_time());
  put_line(line.string("command", command_line()).whole());
}

void child_after_fork() {
  mutex.unlock();
  if (file >= 0) close(file);
  file = -1;  // opened with the child's first record, if there is one
}

__attribute__((destructor)) void at_exit() {
  if (file >= 0) Line("end").number("real", real_time()).write();
}

bool escaped(unsigned char c) { return c < 0x20 || c == '"' || c == '\\' || c >= 0x7f; }

}  // namespace

void Line::name(std::string_view key) {
  comma();
  text_ += '"';
  text_ += key;
  text_ += "\":";
}

void Line::append_string(std::string_view value) {
  if (text_.back() != ':') comma();
  text_ += '"';
  for (const char c : value) {
    if (!escaped(static_cast<unsigned char>(c))) {
      text_ += c;
      continue;
    }
    // Bytes as Latin-1; the reader turns them back.
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c));
    text_ += code;
  }
  text_ += '"';
}

void Line::append_real(double value) {
  if (text_.back() != ':') comma();
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text_.append(digits, end);
}

const std::string& Line::whole() { return text_ += "}\n"; }

void Line::write() {
  std::lock_guard lock(mutex);
  // The first record opens the log, which begins with a record of its own.
  if (file < 0 && !failed) open_log();
  if (file >= 0) put_line(whole());
}

bool start(const char* folder) {
  static std::once_flag once;
  std::call_once(once, [&] {
    if (!folder || !*folder) return;
    directory = folder;
    pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, child_after_fork);
  });
  return !directory.empty();
}

const std::string& folder() { return directory; }

uint64_t thread_id() {
  static thread_local uint64_t id = uint64_t(syscall(SYS_gettid));
  return id;
}

std::string save(std::string_view stem, const void* data, size_t size) {
  std::string name;
  {
    std::lock_guard lock(mutex);
    name = std::to_string(getpid()) + "_" + std::string(stem) + "_" + std::to_string(++saved);
  }
  const int to = open((directory + "/" + name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (to < 0 || !put(to, static_cast<const char*>(data), size)) {
    fail(name.c_str());
    name.clear();
  }
  if (to >= 0) close(to);
  return name;
}

}  // namespace record
