// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadrat/core/context.hpp"

namespace quadrat {

/// Copies bytes between host memory and memory of the context's device, in any direction, on the context's stream. A
/// copy from or to pageable host memory synchronizes.
void copy_bytes(const cpu_context& context, const void* from, void* to, std::size_t bytes);
void copy_bytes(const cuda_context& context, const void* from, void* to, std::size_t bytes);
/// Sets every byte, asynchronously.
void fill_bytes(const cpu_context& context, void* to, unsigned char value, std::size_t bytes);
void fill_bytes(const cuda_context& context, void* to, unsigned char value, std::size_t bytes);

/// Owns uninitialized memory for `size()` trivially copyable elements in the memory of a context. Move-only.
/// Allocation and release are ordered on the context's stream and do not synchronize.
template <typename T, typename Context>
class array {
  static_assert(std::is_trivially_copyable_v<T>, "an array holds trivially copyable elements");

 public:
  array() = default;
  array(const Context& context, std::size_t size) : context_(context), size_(size), capacity_(size) {
    if (size > 0) data_ = static_cast<T*>(context_->memory().allocate(bytes(), context_->stream()));
  }
  array(array&& other) noexcept { swap(other); }
  array& operator=(array&& other) noexcept {
    array(std::move(other)).swap(*this);
    return *this;
  }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  ~array() {
    if (data_ != nullptr) context_->memory().deallocate(data_, bytes(), context_->stream());
  }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return capacity_ * sizeof(T); }

  /// Makes room for `size` elements and discards the old ones. Allocates only when the capacity grows; the old memory
  /// is released first, so the array is left empty when the allocation fails.
  void resize_discarding(const Context& context, std::size_t size) {
    if (size > capacity_) {
      *this = array();
      *this = array(context, size);
    }
    size_ = size;
  }
  void swap(array& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  // A default-made array has touched no device.
  std::optional<Context> context_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// A new array with a copy of the host's elements. Synchronizes.
template <typename T, typename Context>
[[nodiscard]] array<T, Context> to_device(const Context& context, std::span<const T> elements) {
  array<T, Context> result(context, elements.size());
  copy_bytes(context, elements.data(), result.data(), elements.size_bytes());
  context.synchronize();
  return result;
}

template <typename T, typename Context>
[[nodiscard]] array<T, Context> to_device(const Context& context, const std::vector<T>& elements) {
  return to_device(context, std::span<const T>(elements));
}

/// A copy of the first `count` elements on the host. Synchronizes.
template <typename T, typename Context>
[[nodiscard]] std::vector<T> to_host(const Context& context, const T* elements, std::size_t count) {
  std::vector<T> result(count);
  copy_bytes(context, elements, result.data(), count * sizeof(T));
  context.synchronize();
  return result;
}

template <typename T, typename Context>
[[nodiscard]] std::vector<T> to_host(const Context& context, const array<T, Context>& elements) {
  return to_host(context, elements.data(), elements.size());
}

}  // namespace quadrat
