// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keyed/cost.hpp"
#include "keyed/engine.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// Lanes of a warp that share a key join their values first; one atomic operation per key and warp. With several uses
/// the peer masks are kept. Source: voting-and-shuffling.
class warp_peers_engine : public typed_key_engine<cuda_context, warp_peers_engine> {
 public:
  warp_peers_engine(const cuda_context& context, const key_setup& setup) : context_(context), setup_(setup) {}

  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override {
    return keeps_peers() ? count * sizeof(std::uint32_t) : 0;
  }
  void set_keys(const key_source& keys) override;
  void count(std::uint64_t* results, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override { return peers_.bytes(); }
  template <typename T>
  void run(const key_reduction<T>& reduction);

 private:
  [[nodiscard]] bool keeps_peers() const { return setup_.options.uses > 1; }

  cuda_context context_;
  key_setup setup_;
  key_source keys_{};
  array<std::uint32_t, cuda_context> peers_;  // by element: lanes of its warp that have its key
};

struct warp_peers_method : key_method_defaults {
  static constexpr std::string_view name = "warp_peers";
  static constexpr std::string_view summary = "equal keys of a warp joined first, an atomic operation per key and warp";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  /// With several uses, peers are computed once.
  static method_cost cost(const key_request& request) {
    return request.uses > 1 ? cuda_cost({left_over::warp_keys, 5.5, 0.25, 4, 0, "kept_work"}, request)
                            : cuda_cost({left_over::warp_keys, 5.0, 0.25}, request);
  }
  template <typename Context>
  using engine = warp_peers_engine;
};

}  // namespace quadrat::detail
