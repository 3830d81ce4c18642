// Answers each line "architecture threads vgprs sgprs lds_bytes" with workgroups per compute unit.
#include <cstdint>
#include <iostream>
#include <string>

#include "residency/residency.h"

int main() {
  std::string architecture;
  uint32_t threads, vgprs, sgprs, lds_bytes;
  while (std::cin >> architecture >> threads >> vgprs >> sgprs >> lds_bytes)
    std::cout << residency::workgroups(*residency::find(architecture), threads, vgprs, sgprs, lds_bytes) << '\n';
}
