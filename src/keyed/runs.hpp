// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "keyed/key_engine.hpp"

namespace quadrat::detail {

/// Each thread joins runs of equal keys among consecutive elements of its own, warps join what touches, and one atomic
/// operation is left for each run of a warp. Right for keys in any order, fast where equal keys stand together.
class runs_engine : public typed_key_engine<cuda_context, runs_engine> {
 public:
  runs_engine(const cuda_context& context, const key_setup& setup) : context_(context), setup_(setup) {}

  [[nodiscard]] std::size_t bytes_needed(std::size_t /*count*/) const override { return 0; }
  void set_keys(const key_source& keys) override { keys_ = keys; }
  void count(std::uint64_t* results, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override { return 0; }
  template <typename T>
  void run(const key_reduction<T>& reduction);

 private:
  cuda_context context_;
  key_setup setup_;
  key_source keys_{};
};

}  // namespace quadrat::detail
