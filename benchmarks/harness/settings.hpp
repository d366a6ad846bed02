// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace quadrat::bench {

/// What one call of `quadrat bench` was asked for, with the choice of the device made.
struct settings {
  std::string topic;
  bool full = false;  ///< all sizes, long enough to be quoted; otherwise some small ones in seconds
  bool on_cuda = false;
  int threads = 0;  ///< of the CPU; 0: what OpenMP would take
  std::string device_name;
  std::vector<std::string> methods;     ///< empty: all
  std::vector<std::string> operations;  ///< empty: all
  std::vector<int> figures;             ///< of the paper; empty: whatever the operations are
  std::filesystem::path json;           ///< empty: none
  double limit_s = 0;                   ///< rows that would begin later are left out; 0: none
};

}  // namespace quadrat::bench
