// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "keyed/key_engine.hpp"

namespace quadrat::detail {

/// Each block bins its elements in shared memory: directly where there is room for all keys, otherwise in a hash table
/// whose keys are claimed on the way. Source: voting-and-shuffling, "Performance tests" (binning with a hash function).
class shared_bins_engine : public typed_key_engine<cuda_context, shared_bins_engine> {
 public:
  shared_bins_engine(const cuda_context& context, const key_setup& setup) : context_(context), setup_(setup) {}

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
