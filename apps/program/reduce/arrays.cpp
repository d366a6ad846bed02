// SPDX-License-Identifier: BSD-3-Clause
#include "program/reduce/arrays.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/keyed/values.hpp"

namespace quadrat::program {
namespace {

using io::npy_type;

io::npy_array read_array(const std::filesystem::path& file, std::string_view what) {
  require(file.extension() == ".npy", what, " are read from .npy files; ", file.string(), " ends otherwise");
  return io::read_npy(file);
}

/// Converts the elements to another type.
template <typename To, typename From>
std::vector<To> widened(const io::npy_array& array) {
  const auto from = array.as<From>();
  if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>) {
    const auto lost = std::find_if(from.begin(), from.end(), [](double number) {
      return std::isfinite(number) && !std::isfinite(static_cast<float>(number));
    });
    if (lost != from.end()) {
      const auto at = static_cast<std::size_t>(lost - from.begin());
      throw data_error(message(array.file, ": element ", io::index_text(at, array.shape), " is ", *lost,
                               ", which float cannot hold (ask for --precision double)"));
    }
  }
  std::vector<To> result(from.size());
  std::transform(from.begin(), from.end(), result.begin(), [](From number) { return static_cast<To>(number); });
  return result;
}

/// Calls f with the element type of the array if that is valid for values. Returns whether it is.
template <typename F>
bool with_value_type(npy_type type, F&& f) {
  switch (type) {
    case npy_type::int8:
      return f(std::int8_t{}), true;
    case npy_type::int16:
      return f(std::int16_t{}), true;
    case npy_type::int32:
      return f(std::int32_t{}), true;
    case npy_type::int64:
      return f(std::int64_t{}), true;
    case npy_type::uint8:
      return f(std::uint8_t{}), true;
    case npy_type::uint16:
      return f(std::uint16_t{}), true;
    case npy_type::uint32:
      return f(std::uint32_t{}), true;
    case npy_type::float32:
      return f(float{}), true;
    case npy_type::float64:
      return f(double{}), true;
    default:
      return false;
  }
}

/// The type in which values are kept: integers of other types become int64.
template <typename T>
using kept_value = std::conditional_t<std::floating_point<T> || std::is_same_v<T, std::int32_t>, T, std::int64_t>;

template <typename T>
void take_values(const io::npy_array& array, value_precision precision, value_array& result) {
  if (precision == value_precision::single) {
    result.numbers = widened<float, T>(array);
  } else if (precision == value_precision::twice || (precision == value_precision::floating && std::integral<T>)) {
    result.numbers = widened<double, T>(array);
  } else {
    result.numbers = widened<kept_value<T>, T>(array);
  }
}

template <typename Key>
std::uint64_t number_of(const std::string& file, const std::vector<Key>& keys, std::optional<std::uint64_t> asked) {
  if (!asked && keys.empty()) {
    throw data_error(file + ": there are no keys, so their number is unknown; give --keys");
  }
  const std::uint64_t most = asked ? *asked : max_count;
  const auto wrong =
      std::find_if(keys.begin(), keys.end(), [&](Key key) { return static_cast<std::uint64_t>(key) >= most; });
  if (wrong != keys.end()) {
    throw data_error(message(file, ": element [", wrong - keys.begin(), "] is ", *wrong, "; keys are 0 to ", most - 1,
                             asked ? " (--keys)" : ""));
  }
  return asked ? *asked : static_cast<std::uint64_t>(*std::max_element(keys.begin(), keys.end())) + 1;
}

}  // namespace

std::size_t key_array::size() const {
  return std::visit([](const auto& all) { return all.size(); }, keys);
}

npy_type value_array::type() const {
  return std::visit(
      [](const auto& all) { return io::npy_type_of<typename std::remove_cvref_t<decltype(all)>::value_type>; },
      numbers);
}

key_array read_keys(const std::filesystem::path& file, const std::string& name) {
  const io::npy_array array = read_array(file, name);
  key_array result{array.file, array.type, {}};
  const bool integers = with_value_type(array.type, [&](auto zero) {
    using stored = decltype(zero);
    if constexpr (std::is_same_v<stored, std::int64_t> || std::is_same_v<stored, std::uint32_t>) {
      result.keys = widened<stored, stored>(array);
    } else if constexpr (std::integral<stored>) {
      result.keys = widened<std::int32_t, stored>(array);
    }
  });
  if (array.type == npy_type::uint64) {
    result.keys = widened<std::uint64_t, std::uint64_t>(array);
  } else if (!integers || array.type == npy_type::float32 || array.type == npy_type::float64) {
    throw io_error(message(array.file, ": the array holds ", name_of(array.type), "; ", name,
                           " are integers: int8 to int64 or uint8 to uint64"));
  }
  if (array.shape.size() != 1) {
    throw io_error(message(array.file, ": the array has shape ", array.shape_text(), "; ", name, " have shape (n,)"));
  }
  return result;
}

std::uint64_t number_of_keys(const key_array& keys, std::optional<std::uint64_t> asked) {
  return std::visit([&](const auto& all) { return number_of(keys.file, all, asked); }, keys.keys);
}

value_array read_values(const std::filesystem::path& file, std::size_t rows, value_precision precision) {
  const io::npy_array array = read_array(file, "values");
  value_array result;
  result.file = array.file;
  result.stored = array.type;
  const std::size_t axes = array.shape.size();
  const bool fits = (axes == 1 || axes == 2) && array.shape[0] == rows;
  result.columns = axes == 2;
  if (fits && result.columns) result.components = array.shape[1];
  if (!fits || result.components < 1 || result.components > most_value_components) {
    throw io_error(message(array.file, ": the array has shape ", array.shape_text(), "; values of ", rows,
                           " elements have shape (", rows, ",) or (", rows, ", 1 to ", most_value_components, ")"));
  }
  if (!with_value_type(array.type, [&](auto zero) { take_values<decltype(zero)>(array, precision, result); })) {
    throw io_error(message(array.file, ": the array holds ", name_of(array.type),
                           "; values are int32, int64, float32, float64 or smaller integers"));
  }
  return result;
}

void write_results(const std::filesystem::path& file, const value_array& results) {
  std::visit(
      [&](const auto& numbers) {
        using number = typename std::remove_cvref_t<decltype(numbers)>::value_type;
        std::vector<std::size_t> shape{numbers.size() / results.components};
        if (results.columns) shape.push_back(results.components);
        io::npy_writer out(file, results.type(), shape);
        out.write(std::span<const number>(numbers));
        out.commit();
      },
      results.numbers);
}

}  // namespace quadrat::program
