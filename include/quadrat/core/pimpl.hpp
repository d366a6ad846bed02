// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

namespace quadrat::detail {

/// Deletes an object of std::make_unique, also where its type is incomplete.
template <typename T>
class erased_delete {
 public:
  erased_delete() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): so that std::make_unique gives a pimpl
  erased_delete(std::default_delete<T>) : destroy_([](T* it) { delete it; }) {}
  void operator()(T* it) const { destroy_(it); }

 private:
  void (*destroy_)(T*) = nullptr;
};

/// A class with a pimpl needs no destructor or moves of its own, although T is incomplete in its header.
template <typename T>
using pimpl = std::unique_ptr<T, erased_delete<T>>;

}  // namespace quadrat::detail
