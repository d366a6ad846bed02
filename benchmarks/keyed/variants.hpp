// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/session.hpp"
#include "keyed/details.hpp"
#include "quadrat/keyed/key_reducer.hpp"

namespace quadrat::bench {

/// A method of reduction, as a row names it.
struct key_variant {
  std::string method;        ///< or "auto"
  bool named_peers = false;  ///< the row names how peers are found and combined
  detail::key_details details{};
  determinism level = determinism::none;
  bool compensated = false;

  /// Options for `uses` uses of rows of `components` values, with `value_bytes` bytes per row.
  [[nodiscard]] key_reducer_options options(double uses, int value_bytes, int components) const;
};

/// "auto", then the selected methods that run on this device at that level, in the order of the list. Methods that need
/// ordered keys only if `in_order`.
[[nodiscard]] std::vector<key_variant> key_variants(const session& s, bool in_order,
                                                    determinism level = determinism::none, bool compensated = false);

/// Whether a call may take minutes: the methods that the paper started from serialize elements that share a key.
[[nodiscard]] bool queues_for_a_key(std::string_view method);

/// The first keys of a row.
[[nodiscard]] row identify_keyed(std::string_view operation, const key_variant& variant, std::string_view type,
                                 std::size_t n, std::size_t keys, std::string_view distribution, int components);

}  // namespace quadrat::bench
