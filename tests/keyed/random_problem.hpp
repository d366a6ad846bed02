// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "keyed/support.hpp"

namespace quadrat::test {

/// Elements with values, and the expected results.
template <typename T>
struct keyed_problem {
  keyed_elements elements;
  value_memory memory;
  std::vector<std::vector<T>> columns;
  std::vector<std::vector<T>> before;  ///< in the results
  std::vector<std::vector<reference::key_statistics<T>>> alone;
  std::vector<std::vector<reference::key_statistics<T>>> joined;  ///< with the previous contents

  keyed_problem(keyed_elements given, std::size_t components, value_memory where, std::uint64_t seed)
      : elements(std::move(given)),
        memory(where),
        columns(keyed_columns<T>(elements.keys.size(), components, 10 * seed)),
        before(keyed_columns<T>(elements.key_count, components, 10 * seed + 5)) {
    for (std::size_t c = 0; c < components; ++c) {
      alone.push_back(reference::statistics_by_key(elements.keys, columns[c], elements.key_count));
      joined.push_back(alone.back());
      for (std::size_t k = 0; k < elements.key_count; ++k) joined[c][k].add(before[c][k]);
    }
  }
};

/// For methods that take keys in any order and for those that need them in order.
template <typename T>
class problem_pair {
 public:
  problem_pair(const keyed_elements& elements, std::size_t components, value_memory memory, std::uint64_t seed)
      : any_(elements, components, memory, seed), ordered_(elements.in_order(), components, memory, seed) {}
  [[nodiscard]] const keyed_problem<T>& for_method(std::string_view method) const {
    return takes_any_order(method) ? any_ : ordered_;
  }

 private:
  keyed_problem<T> any_;
  keyed_problem<T> ordered_;
};

/// One reduction with a reducer that has the keys.
template <typename T>
void expect_right(const backend_context& context, reducer& by_key, const keyed_problem<T>& problem,
                  const key_call& call) {
  SCOPED_TRACE(std::to_string(problem.columns.size()) + " components in memory " +
               std::to_string(static_cast<int>(problem.memory)) + ", " +
               std::string(key_operation_names[static_cast<std::size_t>(call.operation)]) +
               (call.accumulate ? ", accumulated" : ""));
  stored_values<T> values(context, problem.columns, problem.memory), results(context, problem.before, problem.memory);
  by_key.reduce(values.const_view(), results.view(), call);
  const auto found = results.columns();
  for (std::size_t c = 0; c < found.size() && !testing::Test::HasFailure(); ++c) {
    expect_keyed(found[c], call.accumulate ? problem.joined[c] : problem.alone[c], call.operation);
  }
}

inline void expect_right_counts(const backend_context& context, reducer& by_key, const keyed_elements& elements) {
  std::vector<std::uint64_t> wanted(elements.key_count, 5);
  for (const std::uint64_t key : elements.keys) ++wanted[key];
  auto counts = to_device(context, std::vector<std::uint64_t>(elements.key_count, 5));
  by_key.count(counts.data(), true);
  EXPECT_EQ(to_host(context, counts), wanted);
  for (std::uint64_t& count : wanted) count -= 5;
  by_key.count(counts.data());
  EXPECT_EQ(to_host(context, counts), wanted);
}

}  // namespace quadrat::test
