// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <new>
#include <string>
#include <vector>

#include "keyed/random_problem.hpp"
#include "quadrat/core/error.hpp"
#include "support/counting_memory.hpp"
#include "support/errors.hpp"

#if QUADRAT_BACKEND_CUDA
#include "quadrat/parallel/cuda_graph.hpp"
#endif

// What reducers allocate, and when; and what happens when memory runs out.

namespace quadrat::test {

namespace {

class keyed_memory_test : public backend_test {};

constexpr std::size_t small_key_count = 60;

[[nodiscard]] keyed_problem<float> some_problem(std::string_view method, std::size_t count) {
  return {random_keys(count, small_key_count, count).for_method(method), 2, value_memory::packed, 4};
}

/// Calls of every kind, with memory for values and results outside the reducer.
class all_calls {
 public:
  explicit all_calls(const backend_context& context, std::size_t count)
      : values_(context, 8 * count),
        numbers_(context, 8 * count),
        results_(context, 8 * small_key_count),
        sums_(context, 8 * small_key_count),
        counts_(context, small_key_count),
        count_(count) {
    fill_bytes(context, values_.data(), 0, values_.bytes());
    fill_bytes(context, numbers_.data(), 0, numbers_.bytes());
    context.synchronize();
  }
  void make(reducer& by_key) {
    for (const int components : {1, 8}) {
      for (const key_call& call : {key_call{key_operation::sum, false}, key_call{key_operation::minimum, true},
                                   key_call{key_operation::mean, false}}) {
        by_key.reduce(packed_values<const float>(values_.data(), count_, components),
                      packed_values(results_.data(), small_key_count, components), call);
        by_key.reduce_async(packed_values<const double>(numbers_.data(), count_, components),
                            packed_values(sums_.data(), small_key_count, components), call);
      }
    }
    by_key.count_async(counts_.data(), false);
  }

 private:
  array<float, backend_context> values_;
  array<double, backend_context> numbers_;
  array<float, backend_context> results_;
  array<double, backend_context> sums_;
  array<std::uint64_t, backend_context> counts_;
  std::size_t count_;
};

TEST_F(keyed_memory_test, only_the_first_mean_and_more_elements_allocate) {
  for (const determinism level : {determinism::none, determinism::run_to_run, determinism::canonical}) {
    for (const key_method& method : key_methods_here(level)) {
      SCOPED_TRACE(std::string(method.name) + " at level " + std::to_string(static_cast<int>(level)));
      for (const double uses : {1.0, 5.0}) {
        counting_memory memory;
        const backend_context context = memory.context(level), usual;
        const auto elements = random_keys(6000, small_key_count, 1).for_method(method.name);
        const auto keys = stored_keys<std::int32_t>(usual, elements.keys);
        all_calls calls(usual, 6000);
        key_form options = options_of(method.name);
        options.uses = uses;
        reducer by_key(context, small_key_count, options);
        by_key.set_keys(keys.data(), 6000);
        const std::size_t before = memory.allocations();
        calls.make(by_key);
        context.synchronize();
        EXPECT_EQ(memory.allocations(), before + 1) << "counts for means";
        by_key.set_keys(keys.data(), 6000);
        calls.make(by_key);
        by_key.set_keys_async(keys.data(), 5000);
        by_key.set_keys_async(keys.data(), 6000);
        calls.make(by_key);
        by_key.check();
        EXPECT_EQ(memory.allocations(), before + 1);
      }
    }
  }
}

TEST_F(keyed_memory_test, asynchronous_calls_without_room_are_refused) {
  const backend_context context;
  const auto keys = to_device(context, std::vector<std::int32_t>(101, 1));
  const auto values = to_device(context, std::vector<float>(101, 2));
  array<float, backend_context> results(context, small_key_count);
  const auto refusal = [](const auto& call) { return error_of<argument_error>(call); };
  std::vector<key_form> forms = method_forms();
  forms.push_back(options_of("auto"));
  for (const key_form& options : forms) {
    SCOPED_TRACE(text_of(options));
    reducer by_key(context, small_key_count, options);
    expect_words(refusal([&] { by_key.set_keys_async(keys.data(), 0); }), {"room for 0", "call set_keys first"});
    by_key.set_keys(keys.data(), 100);
    expect_words(refusal([&] { by_key.set_keys_async(keys.data(), 101); }), {"101 elements", "room for 100"});
    by_key.set_keys_async(keys.data(), 100);
    const auto mean = [&](auto method) {
      (by_key.*method)(packed_values<const float>(values.data(), 100), packed_values(results.data(), small_key_count),
                       {key_operation::mean, false});
    };
    using call =
        void (reducer::*)(const component_values<const float>&, const component_values<float>&, const key_call&);
    const call waits = &reducer::reduce, does_not = &reducer::reduce_async;
    expect_words(refusal([&] { mean(does_not); }), {"call reduce for a mean first"});
    mean(waits);
    mean(does_not);
    by_key.check();
    EXPECT_EQ(to_host(context, results)[1], 2);
  }
}

/// All except a few words of the reducer itself.
TEST_F(keyed_memory_test, bytes_are_those_of_the_memory) {
  for (const key_form& options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    counting_memory memory;
    const backend_context context = memory.context(determinism::none), usual;
    {
      reducer by_key(context, small_key_count, options);
      for (const std::size_t count : {20u, 9000u, 100u}) {
        const auto problem = some_problem(options.method, count);
        const auto keys = stored_keys<std::int32_t>(usual, problem.elements.keys);
        by_key.set_keys(keys.data(), count);
        all_calls(usual, count).make(by_key);
        by_key.check();
        EXPECT_LE(by_key.bytes(), memory.live_bytes());
        EXPECT_GE(by_key.bytes() + 1024, memory.live_bytes());
      }
    }
    context.synchronize();
    EXPECT_EQ(memory.live_bytes(), 0u) << "given back";
  }
}

/// The number before a word in a text; 0 if there is none.
std::size_t number_before(const std::string& text, const std::string& word) {
  const std::size_t end = text.find(word);
  if (end == std::string::npos || end == 0) return 0;
  const std::size_t start = text.find_last_not_of("0123456789", end - 1);
  return std::stoull("0" + text.substr(start + 1, end - start - 1));
}

TEST_F(keyed_memory_test, what_is_not_allowed_is_refused_before_anything_is_allocated) {
  const backend_context usual;
  for (key_form options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    const auto problem = some_problem(options.method, 50'000);
    const auto keys = stored_keys<std::int32_t>(usual, problem.elements.keys);
    reducer any_size(usual, small_key_count, options);
    any_size.set_keys(keys.data(), 50'000);
    counting_memory memory;
    const backend_context context = memory.context(determinism::none);
    options.most_bytes = 100;
    reducer by_key(context, small_key_count, options);
    const std::size_t before = memory.allocations();
    const std::string text = error_of<argument_error>([&] { by_key.set_keys(keys.data(), 50'000); });
    EXPECT_EQ(memory.allocations(), before);
    if (any_size.bytes() == 0) {
      EXPECT_EQ(text, "no error");
      continue;
    }
    EXPECT_NE(text.find(options.method), std::string::npos) << text;
    EXPECT_NE(text.find("100 ("), std::string::npos) << text;
    EXPECT_GE(2 * number_before(text, " bytes"), any_size.bytes()) << text;
    EXPECT_LE(number_before(text, " bytes"), any_size.bytes()) << text;
    array<std::uint64_t, backend_context> counts(usual, small_key_count);
    EXPECT_THROW(by_key.count(counts.data()), argument_error);
  }
}

/// Reducers that ran out of memory, at any allocation, work like new ones when there is memory again.
TEST_F(keyed_memory_test, reducers_are_usable_after_memory_ran_out_anywhere) {
  const backend_context usual;
  for (const key_form& options : method_forms()) {
    SCOPED_TRACE(text_of(options));
    const auto few = some_problem(options.method, 90), many = some_problem(options.method, 9000);
    const auto few_keys = stored_keys<std::int32_t>(usual, few.elements.keys);
    const auto many_keys = stored_keys<std::int32_t>(usual, many.elements.keys);
    for (std::size_t allocations = 0; allocations < 20; ++allocations) {
      counting_memory memory;
      const backend_context context = memory.context(determinism::none);
      reducer by_key(context, small_key_count, options);
      by_key.set_keys(few_keys.data(), 90);
      memory.allow(allocations);
      bool enough = true;
      try {
        by_key.set_keys(many_keys.data(), 9000);
      } catch (const std::bad_alloc&) {
        enough = false;
        array<std::uint64_t, backend_context> counts(usual, small_key_count);
        EXPECT_THROW(by_key.count(counts.data()), argument_error) << allocations;
      }
      memory.allow_all();
      if (!enough) by_key.set_keys(many_keys.data(), 9000);
      // On the reducer's stream.
      expect_right(context, by_key, many, {key_operation::sum, false});
      expect_right(context, by_key, many, {key_operation::mean, false});
      if (enough || HasFailure()) break;
      EXPECT_LT(allocations, 19u);
    }
  }
}

#if QUADRAT_BACKEND_CUDA
TEST_F(keyed_memory_test, reductions_are_replayed_from_a_graph) {
  for (const key_form& options : method_forms()) {
    for (const key_call& call : {key_call{key_operation::sum, false}, key_call{key_operation::maximum, true},
                                 key_call{key_operation::mean, false}}) {
      SCOPED_TRACE(text_of(options));
      const backend_context context;
      const auto problem = some_problem(options.method, 7000);
      const auto keys = stored_keys<std::int32_t>(context, problem.elements.keys);
      stored_values<float> values(context, keyed_columns<float>(7000, 2, 90), value_memory::packed);
      stored_values<float> results(context, problem.before, value_memory::packed);
      stored_values<float> right_values(context, problem.columns, value_memory::packed);
      stored_values<float> right_results(context, problem.before, value_memory::packed);
      reducer by_key(context, small_key_count, options);
      by_key.set_keys(keys.data(), 7000);
      by_key.reduce(values.const_view(), results.view(), call);
      cuda_graph graph;
      graph.capture(context, [&] { by_key.reduce_async(values.const_view(), results.view(), call); });
      copy_bytes(context, right_values.view().component[0], values.view().component[0], 2 * 7000 * sizeof(float));
      copy_bytes(context, right_results.view().component[0], results.view().component[0],
                 2 * small_key_count * sizeof(float));
      graph.launch(context);
      const auto found = results.columns();
      for (std::size_t c = 0; c < 2; ++c) {
        expect_keyed(found[c], call.accumulate ? problem.joined[c] : problem.alone[c], call.operation);
      }
    }
  }
}
#endif

}  // namespace

}  // namespace quadrat::test
