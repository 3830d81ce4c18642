#include "subprocess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace hip {

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (std::string rest = path ? path : ""; !rest.empty();) {
    size_t colon = rest.find(':');
    std::string candidate = rest.substr(0, colon) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return {};
}

ProcessResult run_process(const std::vector<std::string>& command) {
  ProcessResult result;
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    result.output = std::strerror(errno);
    return result;
  }
  // The child is a compiler: it must not run on a virtual GPU or be traced itself.
  std::vector<std::string> environment;
  for (char** variable = environ; *variable; ++variable)
    if (std::strncmp(*variable, "LD_PRELOAD=", 11) != 0 && std::strncmp(*variable, "HSA_TOOLS_LIB=", 14) != 0)
      environment.emplace_back(*variable);
  std::vector<char*> arguments, variables;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& word : environment) variables.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  variables.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  pid_t child = 0;
  int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (error != 0) {
    close(pipe_ends[0]);
    result.output = std::strerror(error);
    return result;
  }
  result.started = true;
  char buffer[4096];
  for (ssize_t count; (count = read(pipe_ends[0], buffer, sizeof buffer)) != 0;) {
    if (count > 0) result.output.append(buffer, size_t(count));
    else if (errno != EINTR) break;
  }
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace hip
