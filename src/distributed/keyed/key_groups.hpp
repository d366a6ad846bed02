// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/array.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Groups the elements of one rank by key: the distinct keys in order, and the group of each element.
template <typename Context>
class key_groups {
 public:
  explicit key_groups(const Context& context) : context_(context) {}

  /// Memory for the keys of that many elements, all below `key_count`. To be filled before `build`.
  [[nodiscard]] std::uint64_t* room(std::size_t count);
  /// Groups the keys in the room. Waits.
  void build(std::uint64_t key_count);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The key of each group.
  [[nodiscard]] const std::uint64_t* keys() const { return keys_[1 - sorted_].data(); }
  /// The group of each element.
  [[nodiscard]] const std::uint32_t* groups() const { return groups_.data(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  Context context_;
  std::size_t count_ = 0, size_ = 0;
  int sorted_ = 0;
  array<std::uint64_t, Context> keys_[2];
  array<std::uint32_t, Context> order_[2];
  array<std::uint32_t, Context> groups_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
