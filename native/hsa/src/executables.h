// The books of what is loaded: readers of code objects, executables, and what these hold.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "code_object.h"
#include "runtime.h"

struct Reader {
  std::vector<uint8_t> own;          // of a file
  const uint8_t* bytes = nullptr;    // of the user, where it was made from memory
  size_t size = 0;
  int file = -1;
  std::string uri;

  const uint8_t* data() const { return bytes ? bytes : own.data(); }
};

struct Executable;

struct Symbol {
  Executable* executable;
  Agent* agent;
  std::string name;
  const gpu::KernelSymbol* kernel = nullptr;
  const gpu::VariableSymbol* variable = nullptr;
};

struct Loaded {
  Executable* executable;
  Agent* agent;
  std::shared_ptr<gpu::LoadedCodeObject> object;
  std::vector<uint8_t> storage;  // what was loaded: tools read it back, whatever became of the source
  int file;
  std::string uri;
};

struct Executable {
  bool frozen = false;
  hsa_profile_t profile = HSA_PROFILE_BASE;
  hsa_default_float_rounding_mode_t rounding = HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT;
  std::vector<std::unique_ptr<Loaded>> objects;
  std::vector<std::unique_ptr<Symbol>> symbols;
};

struct Books {
  std::recursive_mutex mutex;  // callbacks of an iteration may ask further
  std::set<Reader*> readers;
  std::set<Executable*> executables;
  std::set<const Symbol*> symbols;
  std::set<const Loaded*> loaded;
};
Books& books();
using Lock = std::lock_guard<std::recursive_mutex>;

template <class T, class Handle>
T* in(const std::set<T*>& set, Handle handle) {
  auto it = set.find(reinterpret_cast<T*>(handle.handle));
  return it == set.end() ? nullptr : *it;
}
