// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/keyed/key_reducer.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "core/backend.hpp"
#include "core/built_backend.hpp"
#include "core/memory_check.hpp"
#include "keyed/checks.hpp"
#include "keyed/choice.hpp"
#include "keyed/engine.hpp"
#include "keyed/late_sample.hpp"
#include "keyed/methods.hpp"
#include "parallel/capture.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/fault.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "tune/autotuner.hpp"

namespace quadrat {

namespace {

/// Index: key. Turns the sum into a mean; NaN without elements. No branch, because it would often be
/// mispredicted.
template <typename T>
struct divide_by_count {
  component_values<T> results;
  const std::uint64_t* counts;

  QUADRAT_HD void operator()(std::size_t key) const {
    const T if_none[2] = {T{0}, static_cast<T>(__builtin_nan(""))};
    const T divisor = static_cast<T>(counts[key]) + if_none[counts[key] == 0 ? 1 : 0];
    for (int c = 0; c < results.components; ++c) results.component[c][key * results.stride] /= divisor;
  }
};

/// Index: element.
struct look_at_key {
  detail::key_source keys;
  bool in_order;  ///< keys must be in order

  QUADRAT_HD void operator()(std::size_t i) const {
    static_cast<void>(keys[i]);
    if (in_order && i > 0 && keys.raw(i) < keys.raw(i - 1)) keys.faults.raise(fault_kind::order, i);
  }
};

}  // namespace

template <typename Context>
struct key_reducer<Context>::implementation {
  implementation(const Context& where, std::uint64_t key_count, const key_reducer_options& options,
                 const detail::key_details& details)
      : context(where), setup{0, options, details}, faults(where) {
    detail::check_key_options(key_count, options);
    detail::require_key_method(options, context);
    detail::require_autotune(options.autotune, context.reproducibility());
    setup.key_count = static_cast<std::uint32_t>(key_count);
  }

  void set_keys(const void* keys, std::size_t count, detail::key_type type, bool waits);
  static constexpr bool cuda = std::is_same_v<Context, cuda_context>;

  void choose();
  [[nodiscard]] bool choose_by_keys();
  [[nodiscard]] bool sample_keys(double work_ms, detail::key_choice& choice);
  void take(detail::key_choice choice);
  void look_at_sample();
  void use_method(std::string_view name);
  void use_keys();
  void take_turn();
  template <typename T>
  void reduce(const component_values<const T>& values, const component_values<T>& results, const key_call& call,
              bool waits);
  void count(std::uint64_t* results, bool accumulate, bool waits);
  template <typename T>
  void divide(const component_values<T>& results);
  void require_keys() const;
  template <typename T>
  void require_fit(const component_values<const T>& values, const component_values<T>& results) const;
  void finish(bool waits);
  void check();
  [[nodiscard]] std::string complaint(const fault_report& fault) const;

  Context context;
  detail::key_setup setup;
  fault_state<Context> faults;
  workspace<Context> scratch;
  array<std::uint64_t, Context> counts;  // for means
  std::unique_ptr<detail::key_engine<Context>> engine;
  std::string_view method;  // of the engine
  bool needs_order = false;
  detail::autotuner tuner;  // starts if options.autotune is set, after keys are sampled
  std::string reason;
  detail::key_request chosen_for{};
  detail::key_source source{};
  detail::key_type type{};
  detail::late_key_sample late;  // on CUDA, at determinism none
  double unseen_ms = 0;          // of the last keys that were not sampled
  double unseen_work_ms = 0;     // of all keys since the choice was due
  std::size_t room = 0;          // elements for which set_keys has made room
  bool choice_due = true;
  bool usable = false;
  bool unchecked = false;     // keys were set or used since the last check
  bool keys_changed = false;  // since the last check: a fault may belong to replaced keys
};

/// Makes the engine of a method if it changes. Drops the previous engine first, so that two never hold
/// memory.
template <typename Context>
void key_reducer<Context>::implementation::use_method(std::string_view name) {
  if (engine != nullptr && name == method) return;
  engine.reset();
  method = {};
  detail::key_method_list::with(detail::key_method_kind, name, [&](auto record) {
    using record_type = decltype(record);
    if constexpr (detail::backend_is_built<Context> && detail::runs_on<Context, record_type>) {
      if constexpr (detail::of_papers<record_type>) {
        engine = detail::paper_engine<record_type, detail::key_engine_maker<Context>>(context, setup);
      } else {
        engine = std::make_unique<typename record_type::template engine<Context>>(context, setup);
      }
    }
    method = record_type::name;
    needs_order = !record_type::any_order;
  });
}

template <typename Context>
void key_reducer<Context>::implementation::choose() {
  const std::string& asked = setup.options.method;
  if (tuner.active() && !tuner.covers(static_cast<double>(source.count))) choice_due = !detail::is_capturing(context);
  if (!choice_due) return;
  bool final = true;
  if (detail::is_automatic(asked)) {
    final = choose_by_keys();
  } else {
    use_method(asked);
    reason = "asked for";
  }
  choice_due = !final || source.count == 0;  // an empty set says nothing about later keys
}

/// Samples only once the work is worth it; until then methods are chosen by counts alone. If runs must be repeatable,
/// the first keys decide. Returns whether the choice is final.
template <typename Context>
bool key_reducer<Context>::implementation::choose_by_keys() {
  const bool repeatable = context.reproducibility() != determinism::none;
  const auto count = static_cast<double>(source.count);
  const bool again =
      engine != nullptr && unseen_ms > 0 && count >= chosen_for.elements / 2 && count <= chosen_for.elements * 2;
  detail::key_choice choice;
  if (!again) {
    choice =
        detail::choose_unseen_key_method(detail::key_request_of(context, setup, source.count, {}), profile_of(context));
    unseen_ms = choice.milliseconds;
  }
  if (source.count > 0) unseen_work_ms += unseen_ms;
  const bool seen = sample_keys(unseen_work_ms, choice);
  if (seen) unseen_ms = unseen_work_ms = 0;
  if (seen || !again) take(std::move(choice));
  if (seen && setup.options.autotune) {
    tuner.begin(detail::expected_key_times(chosen_for, profile_of(context)), count, setup.options.uses);
  }
  return seen || repeatable;
}

/// Chooses by a sample, if that pays for this much work. The host does not wait for a GPU's sample, which then helps
/// later calls, unless runs must be repeatable or calls wait anyway.
template <typename Context>
bool key_reducer<Context>::implementation::sample_keys(double work_ms, detail::key_choice& choice) {
  const bool repeatable = context.reproducibility() != determinism::none, autotune = setup.options.autotune;
  if (late.started() || source.count == 0) return false;
  if (!autotune && !detail::worth_key_sample(cuda, repeatable, source.count, work_ms, choice.at_stake_ms)) return false;
  if constexpr (cuda) {
    if (detail::is_capturing(context)) return false;
    if (!repeatable && !autotune) {
      late.start(context, source, detail::key_sample_layout::of(cuda, source.count));
      return false;
    }
  }
  choice = detail::choose_key_method(context, setup, source, scratch);
  return true;
}

template <typename Context>
void key_reducer<Context>::implementation::take(detail::key_choice choice) {
  use_method(choice.method);
  reason = std::move(choice.reason);
  chosen_for = choice.request;
}

/// Changes to the method that suits the sample, once it has arrived. Captured work makes the choice final, because its
/// graph uses the memory of the method.
template <typename Context>
void key_reducer<Context>::implementation::look_at_sample() {
  if (!cuda || engine == nullptr || !choice_due) return;
  const bool captured = detail::is_capturing(context);
  const std::optional<detail::key_sample> sample = captured ? std::nullopt : late.arrived();
  if (!captured && !sample) return;
  if (late.started()) late.drop();
  choice_due = false;
  if (captured) return;
  take(detail::choose_key_method(detail::key_request_of(context, setup, source.count, *sample), profile_of(context)));
}

template <typename Context>
void key_reducer<Context>::implementation::set_keys(const void* keys, std::size_t count, detail::key_type key_type,
                                                    bool waits) {
  keys_changed = keys_changed || unchecked;
  usable = false;
  require_pointer(keys, count, "keys");
  require(waits || (engine != nullptr && count <= room), "there are ", count,
          " elements, and set_keys_async has room for ", room, "; call set_keys first, which makes room for more");
  source = {keys, count, setup.key_count, key_type.wide, faults.flag()};
  type = key_type;
  look_at_sample();
  choose();
  take_turn();
  usable = unchecked = true;
  if (waits) {
    room = std::max(room, count);
    for_each(context, "keyed.look", count, look_at_key{source, needs_order});
  }
  finish(waits);
}

/// Passes the keys to the engine; while autotuning, to that of the method being timed.
template <typename Context>
void key_reducer<Context>::implementation::take_turn() {
  if (!tuner.active()) return use_keys();
  tuner.turn(context, static_cast<double>(source.count), [&](std::string_view name) {
    use_method(name);
    use_keys();
  });
}

/// Passes the keys to the engine.
template <typename Context>
void key_reducer<Context>::implementation::use_keys() {
  const std::size_t count = source.count;
  const std::uint64_t most = engine->most_elements();
  require(count <= most, "there are ", count, " elements; the method ", method, " can take ", most);
  detail::require_memory(
      context.memory(),
      {method, "elements", engine->bytes_needed(count), engine->bytes(), "The method atomic needs the least"},
      setup.options.most_bytes);
  engine->set_keys(source);
}

template <typename Context>
void key_reducer<Context>::implementation::require_keys() const {
  require(usable, "no keys are set; call set_keys first (and again where it or a check failed)");
}

template <typename Context>
template <typename T>
void key_reducer<Context>::implementation::require_fit(const component_values<const T>& values,
                                                       const component_values<T>& results) const {
  require_keys();
  detail::check_value_shapes(detail::shape_of(values), detail::shape_of(results), source.count, setup.key_count);
  for (int c = 0; c < values.components; ++c) {
    require_pointer(values.component[c], values.count, "values");
    require_pointer(results.component[c], results.count, "results");
  }
}

template <typename Context>
template <typename T>
void key_reducer<Context>::implementation::reduce(const component_values<const T>& values,
                                                  const component_values<T>& results, const key_call& call,
                                                  bool waits) {
  require_fit(values, results);
  const std::string_view before = method;
  look_at_sample();
  if (method != before) use_keys();
  const auto operation = static_cast<std::size_t>(call.operation);
  require(operation < key_operation_names.size(), "there is no operation number ", operation);
  const bool mean = call.operation == key_operation::mean;
  require(!mean || !call.accumulate, "means cannot be accumulated; accumulate sums and counts instead");
  const auto fold = mean ? detail::key_fold::sum : static_cast<detail::key_fold>(operation);
  if constexpr (!std::is_floating_point_v<T>) {
    require(!mean, "means of integers are not integers; give values as float or double, or ask for sum and count");
  }
  require(!mean || waits || counts.size() == setup.key_count,
          "a mean needs memory for counts; call reduce for a mean first, which makes the room");
  unchecked = true;
  const auto compute = [&] {
    if (mean) counts.resize_discarding(context, setup.key_count);
    engine->reduce(detail::key_reduction<T>{fold, values, results, call.accumulate});
    if constexpr (std::is_floating_point_v<T>) {
      if (mean) divide(results);
    }
  };
  try {
    tuner.use(context, compute);
  } catch (const std::bad_alloc&) {
    // A candidate that lacks a feature is skipped.
    if (call.accumulate || !tuner.refuse()) throw;
    take_turn();
    compute();
  }
  finish(waits);
}

template <typename Context>
void key_reducer<Context>::implementation::count(std::uint64_t* results, bool accumulate, bool waits) {
  require_keys();
  require_pointer(results, setup.key_count, "results");
  unchecked = true;
  tuner.use(context, [&] { engine->count(results, accumulate); });
  finish(waits);
}

/// On a CPU the work is done.
template <typename Context>
void key_reducer<Context>::implementation::finish(bool waits) {
  if (waits || !cuda) check();
}

template <typename Context>
template <typename T>
void key_reducer<Context>::implementation::divide(const component_values<T>& results) {
  engine->count(counts.data(), false);
  for_each(context, "keyed.divide", setup.key_count, divide_by_count<T>{results, counts.data()});
}

template <typename Context>
void key_reducer<Context>::implementation::check() {
  const fault_report fault = faults.read(context);
  if (fault.kind == fault_kind::none) {
    unchecked = keys_changed = false;
    return;
  }
  faults.clear(context);
  const std::string text = complaint(fault);
  usable = unchecked = keys_changed = false;
  throw data_error(text, fault.index);
}

/// The message about an invalid key, with the accepted values.
template <typename Context>
std::string key_reducer<Context>::implementation::complaint(const fault_report& fault) const {
  if (keys_changed || !usable) return detail::key_complaint(fault, {}, setup.key_count);
  const auto key = [&](std::size_t i) -> std::uint64_t {
    if (source.wide) return to_host(context, static_cast<const std::uint64_t*>(source.keys) + i, 1)[0];
    return to_host(context, static_cast<const std::uint32_t*>(source.keys) + i, 1)[0];
  };
  const std::size_t i = fault.index;
  return detail::key_complaint(fault, detail::faulty_keys{key(i > 0 ? i - 1 : 0), key(i), type}, setup.key_count);
}

template <typename Context>
key_reducer<Context>::key_reducer(const Context& context, std::uint64_t key_count, const key_reducer_options& options)
    : key_reducer(context, key_count, options, {}) {}
template <typename Context>
key_reducer<Context>::key_reducer(const Context& context, std::uint64_t key_count, const key_reducer_options& options,
                                  const detail::key_details& details)
    : implementation_(std::make_unique<implementation>(context, key_count, options, details)) {}

template <typename Context>
void key_reducer<Context>::set_keys(const std::int32_t* keys, std::size_t count) {
  implementation_->set_keys(keys, count, {false, true}, true);
}
template <typename Context>
void key_reducer<Context>::set_keys(const std::uint32_t* keys, std::size_t count) {
  implementation_->set_keys(keys, count, {false, false}, true);
}
template <typename Context>
void key_reducer<Context>::set_keys(const std::int64_t* keys, std::size_t count) {
  implementation_->set_keys(keys, count, {true, true}, true);
}
template <typename Context>
void key_reducer<Context>::set_keys(const std::uint64_t* keys, std::size_t count) {
  implementation_->set_keys(keys, count, {true, false}, true);
}
template <typename Context>
void key_reducer<Context>::set_keys_async(const std::int32_t* keys, std::size_t count) {
  implementation_->set_keys(keys, count, {false, true}, false);
}
template <typename Context>
void key_reducer<Context>::set_keys_async(const std::uint32_t* keys, std::size_t count) {
  implementation_->set_keys(keys, count, {false, false}, false);
}
template <typename Context>
void key_reducer<Context>::set_keys_async(const std::int64_t* keys, std::size_t count) {
  implementation_->set_keys(keys, count, {true, true}, false);
}
template <typename Context>
void key_reducer<Context>::set_keys_async(const std::uint64_t* keys, std::size_t count) {
  implementation_->set_keys(keys, count, {true, false}, false);
}
template <typename Context>
void key_reducer<Context>::choose_again() {
  implementation_->choice_due = true;
  if (implementation_->late.started()) implementation_->late.drop();
  implementation_->unseen_ms = implementation_->unseen_work_ms = 0;
}

template <typename Context>
void key_reducer<Context>::reduce(const component_values<const std::int32_t>& values,
                                  const component_values<std::int32_t>& results, const key_call& call) {
  implementation_->reduce(values, results, call, true);
}
template <typename Context>
void key_reducer<Context>::reduce(const component_values<const std::int64_t>& values,
                                  const component_values<std::int64_t>& results, const key_call& call) {
  implementation_->reduce(values, results, call, true);
}
template <typename Context>
void key_reducer<Context>::reduce(const component_values<const float>& values, const component_values<float>& results,
                                  const key_call& call) {
  implementation_->reduce(values, results, call, true);
}
template <typename Context>
void key_reducer<Context>::reduce(const component_values<const double>& values, const component_values<double>& results,
                                  const key_call& call) {
  implementation_->reduce(values, results, call, true);
}
template <typename Context>
void key_reducer<Context>::count(std::uint64_t* results, bool accumulate) {
  implementation_->count(results, accumulate, true);
}
template <typename Context>
void key_reducer<Context>::reduce_async(const component_values<const std::int32_t>& values,
                                        const component_values<std::int32_t>& results, const key_call& call) {
  implementation_->reduce(values, results, call, false);
}
template <typename Context>
void key_reducer<Context>::reduce_async(const component_values<const std::int64_t>& values,
                                        const component_values<std::int64_t>& results, const key_call& call) {
  implementation_->reduce(values, results, call, false);
}
template <typename Context>
void key_reducer<Context>::reduce_async(const component_values<const float>& values,
                                        const component_values<float>& results, const key_call& call) {
  implementation_->reduce(values, results, call, false);
}
template <typename Context>
void key_reducer<Context>::reduce_async(const component_values<const double>& values,
                                        const component_values<double>& results, const key_call& call) {
  implementation_->reduce(values, results, call, false);
}
template <typename Context>
void key_reducer<Context>::count_async(std::uint64_t* results, bool accumulate) {
  implementation_->count(results, accumulate, false);
}
template <typename Context>
void key_reducer<Context>::check() {
  implementation_->check();
}

template <typename Context>
std::size_t key_reducer<Context>::element_count() const {
  return implementation_->source.count;
}
template <typename Context>
std::uint64_t key_reducer<Context>::key_count() const {
  return implementation_->setup.key_count;
}
template <typename Context>
std::string_view key_reducer<Context>::method() const {
  return implementation_->method;
}
template <typename Context>
explanation key_reducer<Context>::explanation() const {
  const implementation& reducer = *implementation_;
  const bool automatic = reducer.chosen_for.keys > 0;
  quadrat::explanation result;
  if (automatic) result = detail::explain_key_method(reducer.chosen_for, profile_of(reducer.context));
  result.what = detail::key_method_kind;
  result.chosen = reducer.method;
  result.reason = reducer.reason;
  result.changes = reducer.tuner.changes();
  return result;
}
template <typename Context>
std::string_view key_reducer<Context>::reason() const {
  return implementation_->reason;
}
template <typename Context>
std::size_t key_reducer<Context>::bytes() const {
  const implementation& reducer = *implementation_;
  return (reducer.engine != nullptr ? reducer.engine->bytes() : 0) + reducer.scratch.bytes() + reducer.counts.bytes();
}

template class key_reducer<backend_context>;

}  // namespace quadrat
