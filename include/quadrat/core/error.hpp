// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace quadrat {

/// Base of everything that the library throws.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument that the host can see is impossible. Thrown before anything is launched.
class argument_error : public error {
 public:
  using error::error;
};

/// The data hold an impossible value (NaN, a point outside an open box, a key out of range). Thrown by the next call
/// that synchronises; names the first offender. The result is invalid until it is built again.
class data_error : public error {
 public:
  using error::error;
  data_error(const std::string& what, std::uint64_t index) : error(what), index_(index) {}
  /// The offender among the points, bodies or keys of that call, from 0, where it is one of them: who read them from a
  /// file can then say where it stands there.
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

/// A file could not be read or written, or does not hold what it should.
class io_error : public error {
 public:
  using error::error;
};

namespace detail {

/// Floating-point values as the shortest text that gives them back: two that differ never look the same.
template <typename Part>
void write_part(std::ostringstream& out, const Part& part) {
  if constexpr (std::is_same_v<Part, float> || std::is_same_v<Part, double>) {
    char text[32];
    out.write(text, std::to_chars(text, text + sizeof(text), part).ptr - text);
  } else {
    out << part;
  }
}

}  // namespace detail

/// Joins its arguments into one message, for use in exceptions.
template <typename... Parts>
[[nodiscard]] std::string message(const Parts&... parts) {
  std::ostringstream out;
  (detail::write_part(out, parts), ...);
  return out.str();
}

/// Throws argument_error with the joined parts unless the condition holds.
template <typename... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) throw argument_error(message(parts...));
}

/// The same for a null pointer to some of `what`, as in "values".
inline void require_pointer(const void* first, std::size_t count, std::string_view what) {
  require(count == 0 || first != nullptr, "there are ", count, " ", what, ", but the pointer to them is null");
}

}  // namespace quadrat
