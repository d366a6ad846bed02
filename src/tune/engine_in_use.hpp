// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace quadrat::detail {

/// The engine of the method that is in use, and during a trial of another method that of the one before, so that to go
/// back makes and allocates nothing.
template <typename Engine>
class engine_in_use {
 public:
  [[nodiscard]] Engine* operator->() const { return engine_.get(); }
  [[nodiscard]] explicit operator bool() const { return engine_ != nullptr; }
  [[nodiscard]] std::string_view method() const { return method_; }

  /// Goes over to a method, whose engine is make(), and drops the others.
  template <typename Make>
  void use(std::string_view method, const Make& make) {
    if (engine_ == nullptr || method != method_) {
      drop();
      engine_ = make();
      method_ = method;
    }
    settle();
  }
  /// Goes over to a method and keeps the engine of the one before. If `make` throws, nothing has changed.
  template <typename Make>
  void try_method(std::string_view method, const Make& make) {
    if (method == method_) return;
    if (before_ == nullptr || method != method_before_) {
      before_ = make();
      method_before_ = method;
    }
    std::swap(engine_, before_);
    std::swap(method_, method_before_);
  }
  /// Drops the engine that is not in use.
  void settle() { before_.reset(); }
  void drop() {
    engine_.reset();
    before_.reset();
  }

  /// Bytes of memory that the engines hold.
  [[nodiscard]] std::size_t bytes() const {
    return (engine_ != nullptr ? engine_->bytes() : 0) + (before_ != nullptr ? before_->bytes() : 0);
  }

 private:
  std::unique_ptr<Engine> engine_, before_;
  std::string_view method_, method_before_;
};

}  // namespace quadrat::detail
