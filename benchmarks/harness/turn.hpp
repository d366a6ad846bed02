// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace quadrat::bench {

/// Locks a file, so that of several processes that use one GPU only one works at a time. Waits for the others.
class turn {
 public:
  /// Empty: locks nothing. Throws io_error if the file cannot be locked.
  explicit turn(const std::filesystem::path& file);
  ~turn();
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

 private:
  int file_ = -1;
};

}  // namespace quadrat::bench
