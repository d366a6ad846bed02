// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "keyed/sample.hpp"
#include "keyed/source.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"

namespace quadrat::detail {

/// A sample of keys that a GPU writes to page-locked memory asynchronously. The host never waits; it polls whether all
/// words have been written.
class late_key_sample {
 public:
  late_key_sample() = default;
  late_key_sample(const late_key_sample&) = delete;
  late_key_sample& operator=(const late_key_sample&) = delete;
  ~late_key_sample() {
    if (started()) drop();
  }

  [[nodiscard]] bool started() const { return words_ != nullptr; }
  /// Reads the keys once, asynchronous on the context's stream, which must not be captured. The first call of a process
  /// allocates.
  void start(const cuda_context& context, const key_source& source, const key_sample_layout& layout);
  /// The statistics of the sample, if all words have been written.
  [[nodiscard]] std::optional<key_sample> arrived() const;
  /// Discards the started sample.
  void drop() noexcept;

 private:
  std::uint32_t* words_ = nullptr;
  key_sample_layout layout_{0};
};

#if !QUADRAT_HAS_CUDA
inline void late_key_sample::start(const cuda_context& context, const key_source&, const key_sample_layout&) {
  context.activate();
}
inline std::optional<key_sample> late_key_sample::arrived() const { return {}; }
inline void late_key_sample::drop() noexcept {}
#endif

}  // namespace quadrat::detail
