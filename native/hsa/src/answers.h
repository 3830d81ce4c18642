// What an enquiry writes to the caller's memory, which need not be aligned.
#pragma once

#include <cstring>

#include "hsa/hsa.h"

template <class T>
hsa_status_t give(void* value, const T& answer) {
  std::memcpy(value, &answer, sizeof answer);
  return HSA_STATUS_SUCCESS;
}
