// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace quadrat::bench {

/// The settings of one call of `quadrat bench`, with the device already chosen.
struct settings {
  std::string topic;
  bool full = false;  ///< all sizes, timed precisely; otherwise some small ones in seconds
  bool on_cuda = false;
  int threads = 0;  ///< of the CPU; 0: OpenMP's default
  std::string device_name;
  std::vector<std::string> methods;     ///< empty: all
  std::vector<std::string> operations;  ///< empty: all
  std::vector<int> figures;             ///< of the paper; empty: not restricted
  std::filesystem::path json;           ///< empty: none
  double limit_s = 0;                   ///< no row is begun after this time; 0: no limit
  std::string grid;                     ///< grid of the cases of a choice, fit or test; empty: both
  int part = 1, parts = 1;              ///< of the cases of a choice: every `parts`-th, from the `part`-th on
  bool resume = false;                  ///< keep the cases in the JSON file, and measure the others
  std::filesystem::path turns;          ///< a file that processes lock while they time; empty: no other processes
};

}  // namespace quadrat::bench
