// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/built_backend.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/quadrat.h"

/// The entry of C calls into the library: errors become codes, structs have the caller's size, and the device of a
/// handle is current during a call.
namespace quadrat::c {

/// Keeps the exception that is being handled for quadrat_error_message. Returns its code.
int keep_error() noexcept;

template <typename Call>
int guarded(const Call& call) noexcept {
  try {
    call();
    return QUADRAT_OK;
  } catch (...) {
    return keep_error();
  }
}

/// Makes a GPU current, and restores the caller's GPU at the end. -1 means the CPU: does nothing.
class current_device {
 public:
  explicit current_device(int device);
  ~current_device();  // NOLINT(performance-trivially-destructible): only in builds without CUDA
  current_device(const current_device&) = delete;
  current_device& operator=(const current_device&) = delete;

 private:
  int former_ = -1;
};

/// The largest plausible size of a struct. A larger number is uninitialized memory.
inline constexpr std::size_t most_struct_bytes = 4096;

/// The caller's struct, with zeros for fields that its version lacks. `least`: the offset of the first optional field.
template <typename Struct>
[[nodiscard]] Struct taken(const Struct* given, std::size_t least, const char* name) {
  static_assert(std::is_trivial_v<Struct>);
  require(given != nullptr, "the pointer to ", name, " is null");
  const std::size_t size = given->size;
  require(size >= least && size >= sizeof(std::size_t) && size <= most_struct_bytes, "the size of ", name, " is ", size,
          "; it must be sizeof(the struct), which is ", sizeof(Struct), " in this version of the library");
  Struct result{};
  std::memcpy(&result, given, std::min(size, sizeof(Struct)));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t k = sizeof(Struct); k < size; ++k) {
    require(bytes[k] == 0, name, " has fields that this version of the library does not know; they must be 0");
  }
  return result;
}

/// The same for a struct that may be null, which means all zeros.
template <typename Struct>
[[nodiscard]] Struct taken_or_default(const Struct* given, const char* name) {
  return given == nullptr ? Struct{} : taken(given, sizeof(std::size_t), name);
}

/// Writes the fields of the caller's version of a struct. Fields unknown to this library become 0.
template <typename Struct>
void give(const Struct& result, Struct* to, const char* name) {
  const std::size_t size = taken(to, sizeof(std::size_t), name).size;
  auto* const bytes = reinterpret_cast<unsigned char*>(to);
  constexpr std::size_t head = sizeof(std::size_t);
  std::memcpy(bytes + head, reinterpret_cast<const unsigned char*>(&result) + head,
              std::min(size, sizeof(Struct)) - head);
}

/// A number of an enumeration that counts from 0.
template <typename Enum>
[[nodiscard]] Enum numbered(int value, Enum last, const char* name) {
  require(value >= 0 && value <= static_cast<int>(last), name, " is ", value, "; 0 to ", static_cast<int>(last),
          " are accepted");
  return static_cast<Enum>(value);
}

[[nodiscard]] inline std::string text_of(const char* text) { return text == nullptr ? std::string() : text; }
/// Whether a setting whose default is not 0 is given: any number but 0, or -0.0, which stands for 0.
template <typename Number>
[[nodiscard]] bool is_given(Number value) {
  if constexpr (std::is_floating_point_v<Number>) return value != 0 || std::signbit(value);
  return value != Number{};
}
template <typename Number>
[[nodiscard]] Number or_default(Number value, Number otherwise) {
  return is_given(value) ? value + Number{} : otherwise;  // without the sign
}

/// The base of all handles.
class handle {
 public:
  handle() = default;
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  virtual ~handle() = default;
  [[nodiscard]] virtual quadrat_info info() { return {}; }
  int device = -1;
  std::shared_ptr<memory_resource> memory;  ///< of the caller; outlives the arrays of derived classes

 protected:
  /// The handle of an object of the library.
  template <typename Object>
  [[nodiscard]] quadrat_info info_of(const Object& object) {
    if constexpr (requires { object.method(); }) method_ = object.method();
    if constexpr (requires { object.reason(); }) reason_ = object.reason();
    return {sizeof(quadrat_info), method_.c_str(), reason_.c_str(), object.bytes()};
  }

  /// The same where a report has the choice.
  template <typename Object>
  [[nodiscard]] quadrat_info info_of(const Object& object, std::string_view method, std::string_view reason) {
    method_ = method;
    reason_ = reason;
    return info_of(object);
  }

 private:
  std::string method_, reason_;
};

template <typename Handle, typename Call>
int with(Handle* entered, const Call& call) noexcept {
  return guarded([&] {
    require(entered != nullptr, "the handle is null");
    const current_device scope(entered->device);
    call(*entered);
  });
}

template <typename Handle>
void destroy(Handle* entered) noexcept {
  if (entered == nullptr) return;
  guarded([&] {
    const current_device scope(entered->device);
    delete entered;
  });
}

template <typename Handle>
int info(Handle* entered, quadrat_info* to) noexcept {
  return with(entered, [&](auto& one) { give(one.info(), to, "info"); });
}

}  // namespace quadrat::c

/// A context of either kind.
struct quadrat_context final : quadrat::c::handle {
  quadrat::cpu_context cpu;
  std::optional<quadrat::cuda_context> cuda;

  template <typename Call>
  auto on(const Call& call) const {
    if constexpr (quadrat::detail::backend_is_built<quadrat::cuda_context>) {
      if (cuda) return call(*cuda);
    }
    return call(cpu);
  }
};

namespace quadrat::c {

/// `make` returns the new handle on a context of the library.
template <typename Handle, typename Make>
int create(quadrat_context* context, Handle** to, const Make& make) noexcept {
  if (to != nullptr) *to = nullptr;
  return with(context, [&](const quadrat_context& home) {
    require(to != nullptr, "the pointer to the new handle is null");
    std::unique_ptr<Handle> made = home.on(make);
    made->device = home.device;
    made->memory = home.memory;
    *to = made.release();
  });
}

}  // namespace quadrat::c
