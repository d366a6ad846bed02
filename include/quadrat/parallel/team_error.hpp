// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <exception>
#include <limits>

#if !defined(_OPENMP) && !defined(QUADRAT_WITHOUT_OPENMP)
#error \
    "cpu_context runs in OpenMP threads: compile with -fopenmp (nvcc: -Xcompiler=-fopenmp), as CMake's target \
quadrat::quadrat does, or define QUADRAT_WITHOUT_OPENMP to have the loops of this source run in one thread"
#endif

namespace quadrat::detail {

/// Carries exceptions out of a parallel region: OpenMP does not let them leave it.
class team_error {
 public:
  /// Calls work(), in any thread. If several parts throw, the exception of the lowest part is kept.
  template <typename Work>
  void guard(std::int64_t part, const Work& work) noexcept {
    try {
      work();
    } catch (...) {
#pragma omp critical(quadrat_team_error)
      if (part < part_) {
        part_ = part;
        error_ = std::current_exception();
      }
    }
  }
  /// Call after the region.
  void rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::int64_t part_ = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr error_;
};

}  // namespace quadrat::detail
