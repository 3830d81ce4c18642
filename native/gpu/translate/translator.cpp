#include "translator.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

extern char** environ;

namespace gpu::translate {
namespace {

constexpr size_t kStackBytes = 64 << 10;

struct Start {
  char* const* arguments;
  char* const* environment;
};

// In the new process, on this one's memory: nothing but system calls.
int start(void* given) {
  const auto& what = *static_cast<Start*>(given);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int to = 0; to < 3; ++to) dup2(null, to);
  setpriority(PRIO_PROCESS, 0, 10);
  execve(what.arguments[0], what.arguments, what.environment);
  _exit(127);
}

// A file that is gone when nobody has it open any more: nobody else can have put anything in it.
int written(const std::string& text) {
  const int file = memfd_create("kernel", 0);
  if (file < 0) return -1;
  for (size_t done = 0; done < text.size();) {
    const ssize_t put = write(file, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      close(file);
      return -1;
    }
    done += size_t(put);
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

// What is meant for the program alone does not reach the translator.
bool passed_on(const char* variable) {
  for (const char* own : {"LD_", "HSA_", "ROCM_PERF_HIP_TOOL=", "ROCM_PERF_CAPTURE=", "ROCM_PERF_RECORD=", "PYTHON"})
    if (!std::strncmp(variable, own, std::strlen(own))) return false;
  return true;
}

}  // namespace

Translation Translation::begin(const std::string& translator, const std::string& request, const std::string& target) {
  const int file = written(request);
  if (file < 0) return {};
  std::string number = std::to_string(file);
  std::vector<std::string> words;  // a command, a word a line
  for (size_t at = 0; at <= translator.size();) {
    const size_t end = std::min(translator.find('\n', at), translator.size());
    words.push_back(translator.substr(at, end - at));
    at = end + 1;
  }
  words.insert(words.end(), {number, target});
  std::vector<char*> arguments, environment;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (char** variable = environ; *variable; ++variable)
    if (passed_on(*variable)) environment.push_back(*variable);
  environment.push_back(nullptr);

  // No signal tells of its end, and only who asks for it by name can wait for it: a program's own handling
  // of its children sees nothing of it.
  std::vector<char> stack(kStackBytes);
  Start what{arguments.data(), environment.data()};
  const pid_t pid = clone(start, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK, &what);
  close(file);
  return Translation(pid);
}

bool Translation::ended() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG | __WALL) != 0) pid_ = 0;
  return pid_ == 0;
}

void Translation::wait() {
  while (pid_ > 0 && waitpid(pid_, nullptr, __WALL) < 0 && errno == EINTR) {}
  pid_ = 0;
}

}  // namespace gpu::translate
