// ROCM_PERF_* variables of the process, checked as `rocm-perf` checks them.
#pragma once

#include <string>

// What is wrong with the first bad one by name; empty where all are right.
std::string wrong_setting();
