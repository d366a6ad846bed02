// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "c/entry.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"

/// Converts the caller's arrays to those of the library, and the library's results to the caller's types.
namespace quadrat::c {

inline void require_here(const cpu_context& /*context*/, const void* /*memory*/, const char* /*name*/) {}
/// Throws argument_error for memory that the device cannot access.
void require_here(const cuda_context& context, const void* memory, const char* name);

/// Throws argument_error for a null pointer to elements.
inline void require_given(const void* data, std::size_t count, std::string_view name) {
  require(count == 0 || data != nullptr, name, " is null; an array of ", count, " is needed");
}

/// The same, and for an impossible count: a negative or unset number.
inline void require_array(const void* data, std::size_t count, const char* name) {
  require(count <= max_count, "there are ", count, " ", name, "; at most ", max_count, " are accepted");
  require_given(data, count, name);
}

/// An array that may be null.
template <typename T, typename Context>
[[nodiscard]] const T* optional_array(const Context& context, const void* data, const char* name) {
  require_here(context, data, name);
  return static_cast<const T*>(data);
}

template <typename T, typename Context>
[[nodiscard]] const T* array_of(const Context& context, const void* data, std::size_t count, const char* name) {
  require_array(data, count, name);
  return optional_array<T>(context, data, name);
}

/// A result array that may be null.
template <typename T, typename Context>
[[nodiscard]] T* results_in(const Context& context, void* data, std::size_t count, const char* name) {
  require_given(data, count, name);
  require_here(context, data, name);
  return static_cast<T*>(data);
}

template <typename T, int D, typename Context>
[[nodiscard]] points_view<T, D> points_in(const Context& context, const quadrat_points& points,
                                          const char* name = "points") {
  require(points.count == 0 || points.data != nullptr, name, ".data is null; there are ", points.count, " points");
  const T* const first = array_of<T>(context, points.data, points.count, name);
  points_view<T, D> view{};
  for (int axis = 0; axis < D; ++axis) {
    const std::size_t offset = static_cast<std::size_t>(axis) * or_default<std::size_t>(points.component_stride, 1);
    view.component[axis] = first == nullptr ? nullptr : first + offset;
  }
  view.stride = or_default<std::size_t>(points.stride, D);
  view.count = points.count;
  return view;
}

/// Points by a pointer that must not be null.
template <typename T, int D, typename Context>
[[nodiscard]] points_view<T, D> points_at(const Context& context, const quadrat_points* points,
                                          const char* name = "points") {
  require(points != nullptr, "the pointer to ", name, " is null");
  return points_in<T, D>(context, *points, name);
}

template <typename T, int D>
[[nodiscard]] std::vector<lattice<T, D>> lattices_of(const quadrat_boxes& boxes, const char* name) {
  const std::size_t count = or_default<std::size_t>(boxes.count, 1);
  require(boxes.vectors != nullptr, name, ".vectors is null");
  require_array(boxes.vectors, count, name);
  std::vector<lattice<T, D>> result;
  result.reserve(count);
  for (std::size_t s = 0; s < count; ++s) {
    vec<T, D> origin{};
    vec<vec<T, D>, D> sides{};
    vec<bool, D> wraps{};
    for (int a = 0; a < D; ++a) {
      const std::size_t row = s * D + static_cast<std::size_t>(a);
      if (boxes.origins != nullptr) origin[a] = static_cast<T>(boxes.origins[row]);
      wraps[a] = boxes.periodic == nullptr || boxes.periodic[row] != 0;
      for (int b = 0; b < D; ++b) sides[a][b] = static_cast<T>(boxes.vectors[row * D + static_cast<std::size_t>(b)]);
    }
    result.push_back(make_lattice(origin, sides, wraps));
  }
  return result;
}

template <typename T, int D>
[[nodiscard]] std::vector<lattice<T, D>> lattices_at(const quadrat_boxes* boxes) {
  require(boxes != nullptr, "the pointer to the boxes is null");
  return lattices_of<T, D>(*boxes, "boxes");
}

template <typename T, int D>
[[nodiscard]] box<T, D> box_of(const quadrat_domain& domain) {
  box<T, D> result{};
  for (int axis = 0; axis < D; ++axis) {
    result.lower[axis] = static_cast<T>(domain.lower[axis]);
    result.length[axis] = static_cast<T>(domain.length[axis]);
    result.periodic[axis] = domain.periodic[axis] != 0;
  }
  return result;
}

template <typename Call>
auto with_number_type(int type, const Call& call) {
  require(type == QUADRAT_FLOAT32 || type == QUADRAT_FLOAT64, "type is ", type,
          "; QUADRAT_FLOAT32 (5) and QUADRAT_FLOAT64 (6) are accepted");
  return type == QUADRAT_FLOAT64 ? call(double{}) : call(float{});
}

/// Calls `call` with a number of the type and the dimension as a constant, from `Least` to 3.
template <int Least, typename Call>
auto with_instance(int type, int dimension, const Call& call) {
  require(dimension >= Least && dimension <= 3, "dimension is ", dimension, "; ", Least, " to 3 are accepted");
  return with_number_type(type, [&](auto t) {
    if constexpr (Least == 1) {
      if (dimension == 1) return call(t, std::integral_constant<int, 1>{});
    }
    return dimension == 2 ? call(t, std::integral_constant<int, 2>{}) : call(t, std::integral_constant<int, 3>{});
  });
}

/// The position of the first element outside [0, largest uint32); the largest size_t if there is none.
template <typename Value>
struct no_index {
  const Value* values;
  QUADRAT_HD std::size_t operator()(std::size_t i) const {
    const auto value = static_cast<std::int64_t>(values[i]);
    return value < 0 || value >= std::int64_t{0xffffffff} ? i : ~std::size_t{0};
  }
};

/// to[i] = from[i] as another integer; `no_particle` becomes -1 if the results are signed.
template <typename From, typename To>
struct integer_cast {
  const From* from;
  To* to;
  QUADRAT_HD void operator()(std::size_t i) const {
    if constexpr (std::is_same_v<From, particle_id> && std::is_signed_v<To>) {
      to[i] = from[i] == no_particle ? To(-1) : static_cast<To>(from[i]);
    } else {
      to[i] = static_cast<To>(from[i]);
    }
  }
};

/// Converts integers by point. uint32 is passed on unchanged; the library checks it.
template <typename Context>
class index_array {
 public:
  /// Null for none. Throws argument_error unless there are `count` integers, and data_error that names the first
  /// invalid index. Without `wait`, only integers that need no copy are accepted.
  const std::uint32_t* of(const Context& context, const quadrat_integers& given, std::size_t count, const char* name,
                          bool wait = true) {
    if (given.data == nullptr) return nullptr;
    require(given.count == count, "there are ", given.count, " ", name, "; one for each of the ", count, " is needed");
    require_here(context, given.data, name);
    if (given.type == QUADRAT_UINT32) return static_cast<const std::uint32_t*>(given.data);
    require(given.type == QUADRAT_INT32 || given.type == QUADRAT_INT64, name, " have the type ", given.type,
            "; QUADRAT_INT32, QUADRAT_INT64 and QUADRAT_UINT32 are accepted");
    require(wait, name, " must have the type QUADRAT_UINT32 where the call does not wait");
    return given.type == QUADRAT_INT32 ? converted<std::int32_t>(context, given, name)
                                       : converted<std::int64_t>(context, given, name);
  }
  /// The same for a pointer that may be null.
  const std::uint32_t* of(const Context& context, const quadrat_integers* given, std::size_t count, const char* name,
                          bool wait = true) {
    return given == nullptr ? nullptr : of(context, *given, count, name, wait);
  }

 private:
  template <typename Value>
  const std::uint32_t* converted(const Context& context, const quadrat_integers& given, const char* name) {
    const auto* values = static_cast<const Value*>(given.data);
    constexpr std::size_t none = ~std::size_t{0};
    const std::size_t wrong =
        reduce(context, "c.check_indices", given.count, no_index<Value>{values}, minimum_operation{}, none, scratch_);
    if (wrong != none) {
      const Value value = to_host(context, values + wrong, 1)[0];
      throw data_error(message(name, "[", wrong, "] is ", value, "; numbers from 0 are accepted"), wrong);
    }
    converted_.resize_discarding(context, given.count);
    for_each(context, "c.indices", given.count, integer_cast<Value, std::uint32_t>{values, converted_.data()});
    return converted_.data();
  }

  array<std::uint32_t, Context> converted_;
  workspace<Context> scratch_;
};

/// Calls `call` with a value of the caller's index type.
template <typename Call>
void with_index_type(int type, const Call& call) {
  require(type == QUADRAT_INT32 || type == QUADRAT_INT64, "index_type is ", type,
          "; QUADRAT_INT32 (1) and QUADRAT_INT64 (2) are accepted");
  return type == QUADRAT_INT64 ? call(std::int64_t{}) : call(std::int32_t{});
}

template <typename Context, typename From>
void write_integers(const Context& context, const From* from, std::size_t count, int index_type, void* to) {
  with_index_type(index_type, [&](auto type) {
    using To = decltype(type);
    for_each(context, "c.integers", count, integer_cast<From, To>{from, results_in<To>(context, to, count, "to")});
  });
}

template <typename Context, typename T>
void write_numbers(const Context& context, const T* from, std::size_t count, void* to) {
  copy_bytes(context, from, results_in<T>(context, to, count, "to"), count * sizeof(T));
}

template <typename T>
struct rooted {
  const T* from;
  T* to;
  QUADRAT_HD void operator()(std::size_t i) const { to[i] = std::sqrt(from[i]); }
};

template <typename Context, typename T>
void write_roots(const Context& context, const T* squares, std::size_t count, void* to) {
  for_each(context, "c.distances", count, rooted<T>{squares, results_in<T>(context, to, count, "to")});
}

/// Integers of the components of vectors.
template <int D>
[[nodiscard]] const std::int32_t* components_of(const vec<int, D>* vectors) {
  return reinterpret_cast<const std::int32_t*>(vectors);
}

}  // namespace quadrat::c
