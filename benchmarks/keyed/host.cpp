// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "keyed/distributions.hpp"
#include "keyed/operations.hpp"
#include "keyed/times.hpp"
#include "quadrat/keyed/reduce_with.hpp"

namespace quadrat::bench {

namespace {

enum class host_operation { sum, count, mean };
constexpr std::array<std::string_view, 3> host_operation_names{"sum", "count", "mean"};

/// A plain loop of one thread.
template <typename T>
class plain_loop {
 public:
  plain_loop(const std::vector<std::uint32_t>& keys, const std::vector<T>& values, std::size_t components)
      : keys_(keys), values_(values), components_(components) {}

  void sum(std::vector<T>& results) const {
    std::ranges::fill(results, T{0});
    if (components_ == 1) return add<1>(results.data());
    add<3>(results.data());
  }
  void count(std::vector<std::uint64_t>& counts) const {
    std::ranges::fill(counts, 0);
    for (const std::uint32_t key : keys_) ++counts[key];
  }
  void mean(std::vector<T>& results, std::vector<std::uint64_t>& counts) const {
    sum(results);
    count(counts);
    for (std::size_t i = 0; i < results.size(); ++i) results[i] /= static_cast<T>(counts[i / components_]);
  }

 private:
  template <std::size_t Components>
  void add(T* results) const {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      for (std::size_t c = 0; c < Components; ++c) results[keys_[i] * Components + c] += values_[i * Components + c];
    }
  }

  const std::vector<std::uint32_t>& keys_;
  const std::vector<T>& values_;
  std::size_t components_;
};

/// Keys, values, and memory for the results of every reduction.
template <typename T>
struct host_problem {
  std::vector<std::uint32_t> keys;
  std::uint32_t key_count;
  int components;
  std::vector<T> values, results, expected;
  std::vector<std::uint64_t> counts, expected_counts;

  host_problem(std::vector<std::uint32_t> given, std::uint32_t count, int parts)
      : keys(std::move(given)), key_count(count), components(parts) {
    // Multiples of 1/128: sums are exact in any order.
    for (const std::int8_t part : key_values(keys.size(), components)) values.push_back(static_cast<T>(part) / 128);
    results.resize(std::size_t{key_count} * static_cast<std::size_t>(components));
    counts.resize(key_count);
    expected = results;
    expected_counts = counts;
  }

  [[nodiscard]] plain_loop<T> loop() const { return {keys, values, static_cast<std::size_t>(components)}; }
  void run_loop(host_operation operation, std::vector<T>& to, std::vector<std::uint64_t>& numbers) const {
    if (operation == host_operation::sum) loop().sum(to);
    if (operation == host_operation::count) loop().count(numbers);
    if (operation == host_operation::mean) loop().mean(to, numbers);
  }
  /// Allocates memory for `run`.
  void prepare(key_reducer<cpu_context>& reducer, host_operation operation) {
    reducer.set_keys(keys.data(), keys.size());
    if (operation == host_operation::mean) {
      reducer.reduce(packed_values<const T>(values.data(), keys.size(), components),
                     packed_values(results.data(), key_count, components), {key_operation::mean, false});
    }
  }
  /// Sets the keys and reduces.
  void run(key_reducer<cpu_context>& reducer, host_operation operation) {
    reducer.set_keys_async(keys.data(), keys.size());
    if (operation == host_operation::count) return reducer.count_async(counts.data());
    reducer.reduce_async(packed_values<const T>(values.data(), keys.size(), components),
                         packed_values(results.data(), key_count, components),
                         {operation == host_operation::mean ? key_operation::mean : key_operation::sum, false});
  }
  void check(host_operation operation, std::string_view method) const {
    const bool same = operation == host_operation::count ? counts == expected_counts : same_numbers();
    if (!same) throw disagreement(message(method, " and the plain loop disagree"));
  }

 private:
  [[nodiscard]] bool same_numbers() const {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const bool nothing = results[i] != results[i] && expected[i] != expected[i];
      if (results[i] != expected[i] && !nothing) return false;
    }
    return true;
  }
};

template <typename T>
void time_host_problem(const session& s, const cpu_context& context, host_problem<T>& problem, std::string_view order,
                       host_operation operation) {
  const auto identity = [&](const key_variant& variant) {
    row result = identify_keyed("host", variant, value_type_name<T>(), problem.keys.size(), problem.key_count, order,
                                problem.components);
    result["operation"] = host_operation_names[static_cast<std::size_t>(operation)];
    return result;
  };
  const auto count = static_cast<double>(problem.keys.size());
  double loop_ms = 0;
  key_variant loop;
  loop.method = "plain_loop";
  s.attempt(identity(loop), [&](row& out) {
    const timing measured = time_calls(context, keyed_plan(s),
                                       [&] { problem.run_loop(operation, problem.expected, problem.expected_counts); });
    loop_ms = measured.median_ms;
    add_timing(out, measured, "elements_per_s", count);
  });
  for (const key_variant& variant : key_variants(s, false)) {
    if (variant.method != "auto" && variant.method != "private_tables" && variant.method != "partitioned") continue;
    s.attempt(identity(variant), [&](row& out) {
      const int components = operation == host_operation::count ? 1 : problem.components;
      const int row_bytes = operation == host_operation::count ? 8 : static_cast<int>(sizeof(T)) * components;
      key_reducer<cpu_context> reducer(context, problem.key_count, variant.options(1, row_bytes, components));
      problem.prepare(reducer, operation);
      problem.run(reducer, operation);
      problem.check(operation, variant.method);
      if (variant.method == "auto") out["chosen"] = std::string(reducer.method());
      const timing measured = time_calls(context, keyed_plan(s), [&] { problem.run(reducer, operation); });
      add_timing(out, measured, "elements_per_s", count);
      out["times_plain_loop"] = loop_ms / measured.median_ms;
    });
  }
}

struct plus {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

/// The reducer of functors compared with a plain loop; also with one thread.
template <typename T>
void time_host_functor(const session& s, const cpu_context& context, host_problem<T>& problem, std::string_view order) {
  const auto identity = [&](std::string_view method, int threads) {
    key_variant variant;
    variant.method = method;
    row result =
        identify_keyed("host", variant, value_type_name<T>(), problem.keys.size(), problem.key_count, order, 1);
    result["operation"] = "functor";
    result["threads"] = threads;
    return result;
  };
  const auto count = static_cast<double>(problem.keys.size());
  double loop_ms = 0;
  s.attempt(identity("plain_loop", 1), [&](row& out) {
    const timing measured = time_calls(context, keyed_plan(s), [&] { problem.loop().sum(problem.expected); });
    loop_ms = measured.median_ms;
    add_timing(out, measured, "elements_per_s", count);
  });
  for (const int threads : {1, context.threads()}) {
    s.attempt(identity("functor_reducer", threads), [&](row& out) {
      cpu_context::options options;
      options.threads = threads;
      functor_reducer<cpu_context> reducer{cpu_context(options)};
      const auto work = [&] {
        reducer.reduce_any_order(problem.keys.data(), problem.values.data(), problem.keys.size(),
                                 problem.results.data(), problem.key_count, plus{}, T{0});
      };
      work();
      problem.check(host_operation::sum, "functor_reducer");
      const timing measured = time_calls(context, keyed_plan(s), work);
      add_timing(out, measured, "elements_per_s", count);
      out["times_plain_loop"] = loop_ms / measured.median_ms;
    });
    if (context.threads() == 1) return;
  }
}

template <typename T>
void time_host_keys(const session& s, const cpu_context& context, std::uint32_t keys, std::string_view order) {
  const std::size_t n = s.full() ? 10'000'000 : 10'000;
  for (const int components : {1, 3}) {
    host_problem<T> problem(make_keys(order, n, keys), keys, components);
    time_host_problem(s, context, problem, order, host_operation::sum);
    if (components > 1) continue;
    time_host_functor(s, context, problem, order);
    time_host_problem(s, context, problem, order, host_operation::count);
    time_host_problem(s, context, problem, order, host_operation::mean);
  }
}

}  // namespace

void run_keyed_host(const session& s) {
  if (s.on_cuda()) return;
  const auto context = make_context<cpu_context>(s);
  std::vector<std::uint32_t> key_counts{2, 1000};
  if (s.full()) key_counts.insert(key_counts.end(), {100'000, 1'000'000, 10'000'000});
  for (const std::uint32_t keys : key_counts) {
    for (const std::string_view order : {"random", "zipf", "ordered"}) {
      time_host_keys<float>(s, context, keys, order);
      time_host_keys<double>(s, context, keys, order);
    }
  }
}

}  // namespace quadrat::bench
