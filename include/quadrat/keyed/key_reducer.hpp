// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/keyed/values.hpp"
#include "quadrat/tune/explanation.hpp"

/// Reduction by key: sums, extremes, counts and means over the elements that share a key.
namespace quadrat {

enum class key_operation { sum, minimum, maximum, mean };
/// Their names, in the order of the enumeration.
inline constexpr std::array<std::string_view, 4> key_operation_names{"sum", "min", "max", "mean"};

namespace detail {
struct key_details;
struct reducer_access;
}  // namespace detail

struct key_reducer_options {
  std::string method{};  ///< one of key_methods(); empty or "auto": chosen automatically, see key_reducer::reason
  /// With `auto`: samples the keys, then times the methods that may be fastest during the first calls, which wait. The
  /// fastest is kept until the number of elements changes by a factor of two or a call is captured
  /// (docs/concepts/choosing.md). Not at run_to_run and canonical.
  bool autotune = false;
  /// Expected number of reductions per call of set_keys. Reusable data (patterns of peers, the sorted order) is kept if
  /// that pays. The choice of a method depends on it.
  double uses = 1;
  /// Bytes of a row of values, all components. The choice of a method also depends on it.
  int value_bytes = 4;
  int value_components = 1;  ///< numbers of such a row; the choice also depends on it
  /// Compensated floating-point sums: they carry the rounding error (twice the digits until the result is rounded). Not
  /// every method supports it.
  bool compensated = false;
  /// Bytes that the reducer may hold; 0: all free memory.
  std::size_t most_bytes = 0;
};

struct key_call {
  key_operation operation = key_operation::sum;
  /// Combines with the previous contents of the result instead of overwriting them. A NaN there is ignored by extremes,
  /// and stays in sums. Not for means.
  bool accumulate = false;
};

/// A reducer for a number of keys. Set the keys of the elements whenever they change, and use it any number of times.
/// Move-only. Context: cpu_context or cuda_context.
///
/// Keys are integers of 32 or 64 bits, 0 to key_count - 1, in any order (sorted for the method `ordered`). Row k of a
/// result belongs to key k. A key without elements gets 0 (sums, counts), NaN (means), or the identity: the largest
/// number or infinity for minima, the smallest for maxima. Minima and maxima ignore NaNs; in sums and means a NaN
/// propagates. Sums of integers wrap around. If a GPU adds floats by atomic operations, numbers below 2^-126 count as
/// 0.
///
/// Determinism: the context's level, which the method must support (key_methods()); at `none` the order of
/// floating-point additions is that of atomic operations. At `canonical` sums do not depend on the order of the
/// elements, and are correct to one rounding plus at most n M 2^-76 in float, n M 2^-114 in double, with n the number
/// of the key's elements, M the size of its largest finite value, and up to 2^24 elements in all (docs/guides/keyed.md
/// has the general bound). Everything else is exact at every level. Source: voting-and-shuffling (all sections).
template <typename Context>
class key_reducer {
  static_assert(detail::instance<Context>::exists);

 public:
  /// Throws argument_error for no keys or more than 2^31 - 1, invalid options, unknown methods (listing the valid
  /// ones), methods that do not support the backend or the level of determinism, and autotune at run_to_run or
  /// canonical.
  key_reducer(const Context& context, std::uint64_t key_count, const key_reducer_options& options = {});

  /// Sets the keys of `count` elements; they are not copied and must not change while they are in use. Waits. May
  /// allocate. With `auto` the method is chosen by counts alone until a sample of the keys pays; the next call then
  /// changes the method, and that choice is kept. Throws data_error naming the first key that is out of range or out of
  /// order, and argument_error if a limit of the method is exceeded, or it would need more memory than is free (before
  /// anything is allocated).
  void set_keys(const std::int32_t* keys, std::size_t count);
  void set_keys(const std::uint32_t* keys, std::size_t count);
  void set_keys(const std::int64_t* keys, std::size_t count);
  void set_keys(const std::uint64_t* keys, std::size_t count);
  /// The same. Does not wait, except with autotune. Allocates nothing, except when `auto` changes the method. Can be
  /// captured in a CUDA graph; then `auto` no longer changes the method. Throws argument_error for more elements than
  /// set_keys has made room for. `check` reports invalid keys; on a CPU the call that uses them does.
  void set_keys_async(const std::int32_t* keys, std::size_t count);
  void set_keys_async(const std::uint32_t* keys, std::size_t count);
  void set_keys_async(const std::int64_t* keys, std::size_t count);
  void set_keys_async(const std::uint64_t* keys, std::size_t count);
  /// With `auto`: the next call that sets keys chooses anew, without a sample until there has been work worth it. Does
  /// not wait. Allocates nothing.
  void choose_again();

  /// results[key][c] = the operation over values[i][c] of all elements i with that key. Waits. Allocates nothing,
  /// except in the first call for means, and where `auto` changes the method. Throws argument_error when no keys are
  /// set, counts do not match, components do not match or are not 1 to 8, and for means of integers; otherwise what
  /// `check` throws. Values and results must not overlap.
  void reduce(const component_values<const std::int32_t>& values, const component_values<std::int32_t>& results,
              const key_call& call = {});
  void reduce(const component_values<const std::int64_t>& values, const component_values<std::int64_t>& results,
              const key_call& call = {});
  void reduce(const component_values<const float>& values, const component_values<float>& results,
              const key_call& call = {});
  void reduce(const component_values<const double>& values, const component_values<double>& results,
              const key_call& call = {});
  /// The same. Does not wait, except with autotune. Allocates nothing, except when `auto` changes the method. Can be
  /// captured in a CUDA graph; then `auto` no longer changes the method. Skips elements whose keys are out of range, or
  /// not in order if that is required: see check. Throws argument_error like reduce, and for a mean before `reduce` has
  /// computed one.
  void reduce_async(const component_values<const std::int32_t>& values, const component_values<std::int32_t>& results,
                    const key_call& call = {});
  void reduce_async(const component_values<const std::int64_t>& values, const component_values<std::int64_t>& results,
                    const key_call& call = {});
  void reduce_async(const component_values<const float>& values, const component_values<float>& results,
                    const key_call& call = {});
  void reduce_async(const component_values<const double>& values, const component_values<double>& results,
                    const key_call& call = {});
  /// results[key] = number of elements with that key. Waits. Allocates nothing, except where `auto` changes the method.
  /// Throws as reduce.
  void count(std::uint64_t* results, bool accumulate = false);
  /// The same. Otherwise as reduce_async. Does not wait, except with autotune. Allocates nothing, except where `auto`
  /// changes the method. Can be captured.
  void count_async(std::uint64_t* results, bool accumulate = false);

  /// Waits. Allocates nothing. Throws data_error when keys since the last check were out of range or out of order,
  /// naming the first such element; the results since then are invalid, and keys must be set again. Calls that wait
  /// check, too; on a CPU all do.
  void check();

  [[nodiscard]] std::size_t element_count() const;
  [[nodiscard]] std::uint64_t key_count() const;
  /// The method in use: with `auto`, that of the last choice (empty before), and why.
  [[nodiscard]] std::string_view method() const;
  [[nodiscard]] std::string_view reason() const;
  /// All methods with their expected times, and what the last choice went by (docs/concepts/choosing.md); without
  /// candidates if nothing was chosen automatically. Does not wait. Allocates nothing.
  [[nodiscard]] quadrat::explanation explanation() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  friend detail::reducer_access;
  key_reducer(const Context& context, std::uint64_t key_count, const key_reducer_options& options,
              const detail::key_details& details);

  struct implementation;
  detail::pimpl<implementation> implementation_;
};

/// All in one call: constructs a reducer, sets the keys, reduces. Waits. Allocates. Determinism: that of the reducer.
/// Throws what those throw.
template <typename Context, typename Key, typename T>
void reduce_by_key(const Context& context, const Key* keys,
                   const component_values<const std::type_identity_t<T>>& values, const component_values<T>& results,
                   key_operation operation = key_operation::sum, const key_reducer_options& options = {}) {
  key_reducer_options known = options;
  const bool possible = values.components >= 1 && values.components <= most_value_components;
  known.value_components = possible ? values.components : 1;
  known.value_bytes = static_cast<int>(sizeof(T)) * known.value_components;
  key_reducer<Context> reducer(context, results.count, known);
  reducer.set_keys(keys, values.count);
  reducer.reduce(values, results, {operation, false});
}

}  // namespace quadrat
