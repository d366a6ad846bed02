// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "cells/subject.hpp"

namespace quadrat::bench {

/// Kinds of buckets that a hash table can have, named after the cell lists that use them.
inline constexpr std::array<std::string_view, 5> hash_bucket_names{"fixed", "fixed_row_major", "counting", "sorted",
                                                                   "linked_loose"};

/// A hash table with buckets chosen by name. Its functions are those of hash_table.
template <typename Context>
class hash_subject {
 public:
  virtual ~hash_subject() = default;
  /// One bucket per element. Does not wait.
  virtual void build(const std::uint64_t* keys, std::size_t count) = 0;
  virtual void check() = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  /// results[i] = sum of (element + 1) over the elements with key keys[i]. Does not wait.
  virtual void find(const std::uint64_t* keys, std::size_t count, std::uint64_t* results) = 0;
};

/// Throws argument_error for an unknown name.
template <typename Context>
[[nodiscard]] std::unique_ptr<hash_subject<Context>> make_hash_subject(std::string_view buckets,
                                                                       const Context& context);

}  // namespace quadrat::bench
