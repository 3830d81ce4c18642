// hipArray_t: rows of elements in linear device memory. The devices have no texture hardware, so
// an array is storage to copy to and from.
#pragma once

#include "internal_api.h"

struct hipArray {
  void* data = nullptr;
  hipChannelFormatDesc desc{};
  size_t width = 0, height = 0, depth = 0;  // elements; height and depth 0 where there are none
  unsigned flags = 0;
  hipArray_Format format = HIP_AD_FORMAT_FLOAT;
  unsigned channels = 1;
  size_t element_bytes = 4;
  int device = 0;

  size_t pitch() const { return width * element_bytes; }
  size_t rows() const { return height ? height : 1; }
  size_t planes() const { return depth ? depth : 1; }
  size_t bytes() const { return pitch() * rows() * planes(); }
};
