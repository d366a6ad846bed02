// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "quadrat/core/macros.hpp"

namespace quadrat {

/// Base of everything that the library throws.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An invalid argument that can be detected on the host. Thrown before anything is launched.
class argument_error : public error {
 public:
  using error::error;
};

/// The data hold an invalid value (NaN, a point outside an open box, a key out of range). Thrown by the next call that
/// synchronizes; names the first offender. The result is invalid until it is built again.
class data_error : public error {
 public:
  using error::error;
  data_error(const std::string& what, std::uint64_t index) : error(what), index_(index) {}
  /// The offender's index among the points, queries, bodies or keys of that call, or the particles of a model, from 0,
  /// if it is one of them: a caller that read them from a file can then name the line.
  [[nodiscard]] std::optional<std::uint64_t> index() const noexcept { return index_; }

 private:
  std::optional<std::uint64_t> index_;
};

/// A fixed capacity was too small. Nothing was dropped silently: the result is invalid until it is built again with at
/// least `needed()`.
class overflow_error : public error {
 public:
  overflow_error(const std::string& what, std::uint64_t needed) : error(what), needed_(needed) {}
  /// The capacity that would have sufficed.
  [[nodiscard]] std::uint64_t needed() const noexcept { return needed_; }

 private:
  std::uint64_t needed_;
};

/// The backend is not in this build, has no device, or its runtime reported a failure.
class backend_error : public error {
 public:
  using error::error;
};

/// A file could not be read or written, or has invalid contents.
class io_error : public error {
 public:
  using error::error;
};

/// The host does not have the requested memory. Holds its text in place, since there may be no memory to allocate it.
class out_of_memory : public std::bad_alloc {
 public:
  /// `available`: about how many bytes could have been allocated; the largest number where that is not known.
  out_of_memory(std::size_t asked, std::size_t available) noexcept;
  /// "out of memory: 17.18 GB were asked for; 3.1 GB are available"
  [[nodiscard]] const char* what() const noexcept override { return text_; }
  /// Bytes requested.
  [[nodiscard]] std::size_t asked() const noexcept { return asked_; }

 private:
  std::size_t asked_;
  char text_[128];
};

namespace detail {

/// Floating-point values as the shortest text that reads back as the same value: two that differ never look the same.
template <typename Part>
void append_part(std::string& text, const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
    text += std::string_view(part);
  } else if constexpr (std::is_same_v<Part, char>) {
    text += part;
  } else if constexpr (std::is_same_v<Part, bool>) {
    text += part ? '1' : '0';
  } else {
    static_assert(std::is_arithmetic_v<Part>, "messages are made of texts and numbers");
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof(digits), part).ptr);
  }
}

}  // namespace detail

/// Joins texts and numbers into one message, for use in exceptions. Throws std::bad_alloc when out of memory, where a
/// stream would silently truncate the text.
template <typename... Parts>
[[nodiscard]] std::string message(const Parts&... parts) {
  std::string text;
  (detail::append_part(text, parts), ...);
  return text;
}

/// Throws argument_error with the joined parts unless the condition holds.
template <typename... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) throw argument_error(message(parts...));
}

/// Throws argument_error for a null pointer to a nonzero number of `what`, such as "values".
inline void require_pointer(const void* first, std::size_t count, std::string_view what) {
  require(count == 0 || first != nullptr, "there are ", count, " ", what, ", but the pointer to them is null");
}

}  // namespace quadrat
