// How exported functions reach their implementations: through the tables a tool may have changed.
#pragma once

#include "hsa/hsa_api_trace.h"
#include "hsa/hsa_ven_amd_loader.h"

// The live tables, in one place so that `&tables.root` is what OnLoad gets.
struct Tables {
  HsaApiTable root{};
  CoreApiTable core{};
  AmdExtTable amd{};
  FinalizerExtTable finalizer{};
  ImageExtTable image{};
  ToolsApiTable tools{};
  PcSamplingExtTable pc_sampling{};

  Tables();
  void reset();  // every slot back to our own implementation
};
Tables& tables();

void fill(CoreApiTable& table);
void fill(AmdExtTable& table);
void fill(FinalizerExtTable& table);
void fill(ImageExtTable& table);

inline CoreApiTable& table_of(CoreApiTable*) { return tables().core; }
inline AmdExtTable& table_of(AmdExtTable*) { return tables().amd; }
inline FinalizerExtTable& table_of(FinalizerExtTable*) { return tables().finalizer; }
inline ImageExtTable& table_of(ImageExtTable*) { return tables().image; }
#define slot(table, name) table_of(static_cast<table*>(nullptr)).name##_fn

// Names the function once on stderr; the answer of everything in unsupported.txt.
hsa_status_t unsupported(const char* function);
