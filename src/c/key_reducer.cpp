// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/keyed/key_reducer.hpp"

#include "c/arrays.hpp"
#include "core/backend.hpp"

struct quadrat_key_reducer : quadrat::c::handle {
  virtual void set_keys(const quadrat_integers* keys, bool wait) = 0;
  virtual void reduce(const void* values, void* results, const quadrat_key_call& call, bool wait) = 0;
  virtual void count(uint64_t* results, bool wait) = 0;
  virtual void check() = 0;
};

namespace quadrat::c {

using key_reducer_handle = std::unique_ptr<quadrat_key_reducer>;
key_reducer_handle make_reducer(const cpu_context& context, const quadrat_key_reducer_options& options);
key_reducer_handle make_reducer(const cuda_context& context, const quadrat_key_reducer_options& options);
std::int64_t largest_of(const cpu_context& context, const quadrat_integers& integers);
std::int64_t largest_of(const cuda_context& context, const quadrat_integers& integers);

namespace {

[[nodiscard]] key_reducer_options key_reducer_options_of(const quadrat_key_reducer_options& given) {
  key_reducer_options result;
  result.method = text_of(given.method);
  result.uses = or_default(given.uses, result.uses);
  result.value_bytes = or_default(given.value_bytes, result.value_bytes);
  result.value_components = or_default(given.value_components, result.value_components);
  result.compensated = given.compensated != 0;
  result.autotune = given.autotune != 0;
  return result;
}

/// Calls `call` with a value of the type of integers.
template <typename Call>
auto with_key_type(int type, const char* name, const Call& call) {
  switch (type) {
    case QUADRAT_INT32:
      return call(std::int32_t{});
    case QUADRAT_UINT32:
      return call(std::uint32_t{});
    case QUADRAT_INT64:
      return call(std::int64_t{});
    case QUADRAT_UINT64:
      return call(std::uint64_t{});
    default:
      throw argument_error(
          message(name, " have the type ", type, "; QUADRAT_INT32, INT64, UINT32 and UINT64 are accepted"));
  }
}

/// Converts to int64. Larger uint64 numbers become the largest int64.
template <typename Value>
struct as_signed {
  const Value* values;
  QUADRAT_HD std::int64_t operator()(std::size_t i) const {
    if constexpr (std::is_same_v<Value, std::uint64_t>) {
      constexpr std::uint64_t most = ~std::uint64_t{0} >> 1;
      return static_cast<std::int64_t>(values[i] < most ? values[i] : most);
    } else {
      return static_cast<std::int64_t>(values[i]);
    }
  }
};

template <typename Context>
class key_reducer_on final : public quadrat_key_reducer {
 public:
  key_reducer_on(const Context& context, const quadrat_key_reducer_options& options)
      : context_(context), reducer_(context, options.key_count, key_reducer_options_of(options)) {}

  void set_keys(const quadrat_integers* keys, bool wait) override {
    require(keys != nullptr, "the pointer to the keys is null");
    with_key_type(keys->type, "keys", [&](auto key) {
      const auto* const first = array_of<decltype(key)>(context_, keys->data, keys->count, "keys");
      wait ? reducer_.set_keys(first, keys->count) : reducer_.set_keys_async(first, keys->count);
    });
  }
  void reduce(const void* values, void* results, const quadrat_key_call& call, bool wait) override {
    switch (call.value_type) {
      case QUADRAT_INT32:
        return reduce_of<std::int32_t>(values, results, call, wait);
      case QUADRAT_INT64:
        return reduce_of<std::int64_t>(values, results, call, wait);
      case QUADRAT_FLOAT32:
        return reduce_of<float>(values, results, call, wait);
      case QUADRAT_FLOAT64:
        return reduce_of<double>(values, results, call, wait);
      default:
        throw argument_error(
            message("value_type is ", call.value_type, "; QUADRAT_INT32, INT64, FLOAT32 and FLOAT64 are accepted"));
    }
  }
  void count(std::uint64_t* results, bool wait) override {
    std::uint64_t* const to = results_in<std::uint64_t>(context_, results, 1, "results");
    wait ? reducer_.count(to) : reducer_.count_async(to);
  }
  void check() override { reducer_.check(); }
  [[nodiscard]] quadrat_info info() override { return info_of(reducer_); }

 private:
  template <typename T>
  void reduce_of(const void* values, void* results, const quadrat_key_call& call, bool wait) {
    const int components = or_default(call.components, 1);
    require(components >= 1 && components <= most_value_components, "there are ", components, " components; 1 to ",
            most_value_components, " are accepted");
    const std::size_t count = reducer_.element_count();
    const key_call how{numbered(call.operation, key_operation::mean, "operation"), call.accumulate != 0};
    const auto keys = static_cast<std::size_t>(reducer_.key_count());
    const std::size_t stride = or_default(call.stride, static_cast<std::size_t>(components));
    const auto from = strided_values(array_of<T>(context_, values, count, "values"), count, components, stride);
    const auto to = packed_values(results_in<T>(context_, results, keys, "results"), keys, components);
    wait ? reducer_.reduce(from, to, how) : reducer_.reduce_async(from, to, how);
  }

  Context context_;
  key_reducer<Context> reducer_;
};

}  // namespace

key_reducer_handle make_reducer(const backend_context& context, const quadrat_key_reducer_options& options) {
  return std::make_unique<key_reducer_on<backend_context>>(context, options);
}

std::int64_t largest_of(const backend_context& context, const quadrat_integers& integers) {
  return with_key_type(integers.type, "integers", [&](auto key) {
    using Key = decltype(key);
    const as_signed<Key> map{array_of<Key>(context, integers.data, integers.count, "integers")};
    workspace<backend_context> scratch;
    return reduce(context, "c.largest", integers.count, map, maximum_operation{}, std::int64_t{-1}, scratch);
  });
}

#if QUADRAT_BACKEND_CPU

static int reduce_with_keys(quadrat_key_reducer* reducer, const void* values, void* results,
                            const quadrat_key_call* call, bool wait) {
  return with(reducer, [&](auto& one) {
    one.reduce(values, results, taken(call, offsetof(quadrat_key_call, operation), "call"), wait);
  });
}

extern "C" {

int quadrat_key_reducer_create(quadrat_context* context, const quadrat_key_reducer_options* options,
                               quadrat_key_reducer** reducer) {
  return create(context, reducer, [&](const auto& backend) {
    return make_reducer(backend, taken(options, offsetof(quadrat_key_reducer_options, method), "options"));
  });
}
void quadrat_key_reducer_destroy(quadrat_key_reducer* reducer) { destroy(reducer); }
int quadrat_key_reducer_set_keys(quadrat_key_reducer* reducer, const quadrat_integers* keys) {
  return with(reducer, [&](auto& one) { one.set_keys(keys, true); });
}
int quadrat_key_reducer_set_keys_async(quadrat_key_reducer* reducer, const quadrat_integers* keys) {
  return with(reducer, [&](auto& one) { one.set_keys(keys, false); });
}
int quadrat_key_reducer_reduce(quadrat_key_reducer* reducer, const void* values, void* results,
                               const quadrat_key_call* call) {
  return reduce_with_keys(reducer, values, results, call, true);
}
int quadrat_key_reducer_reduce_async(quadrat_key_reducer* reducer, const void* values, void* results,
                                     const quadrat_key_call* call) {
  return reduce_with_keys(reducer, values, results, call, false);
}
int quadrat_key_reducer_count(quadrat_key_reducer* reducer, uint64_t* results) {
  return with(reducer, [&](auto& one) { one.count(results, true); });
}
int quadrat_key_reducer_count_async(quadrat_key_reducer* reducer, uint64_t* results) {
  return with(reducer, [&](auto& one) { one.count(results, false); });
}
int quadrat_key_reducer_check(quadrat_key_reducer* reducer) {
  return with(reducer, [](auto& one) { one.check(); });
}
int quadrat_key_reducer_info(quadrat_key_reducer* reducer, quadrat_info* to) { return info(reducer, to); }

int quadrat_largest(quadrat_context* context, const quadrat_integers* integers, int64_t* largest) {
  return with(context, [&](const quadrat_context& home) {
    require(integers != nullptr, "the pointer to the integers is null");
    require(largest != nullptr, "the pointer to the result is null");
    *largest = home.on([&](const auto& backend) { return largest_of(backend, *integers); });
  });
}

}  // extern "C"

#endif

}  // namespace quadrat::c
