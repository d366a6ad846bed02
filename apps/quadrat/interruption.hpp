// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::program {

/// While it lives, the first Ctrl-C (SIGINT) or SIGTERM only asks to stop; a second one ends the program at once.
class interruption {
 public:
  interruption();
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  /// The number of the signal that asked to stop, or 0.
  [[nodiscard]] int signal() const;
};

}  // namespace quadrat::program
