// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "spectral/transform.hpp"

namespace quadrat::detail {

/// Transforms several meshes one by one, for libraries without batched transforms.
template <typename T>
class each_mesh final : public mode_transform<T> {
 public:
  each_mesh(std::unique_ptr<mode_transform<T>> one, const transform_shape& shape)
      : one_(std::move(one)),
        count_(static_cast<std::size_t>(shape.count)),
        apart_(shape.apart * (shape.real ? 1 : 2)) {}

  [[nodiscard]] std::size_t spectrum_size() const override { return count_ * one_->spectrum_size(); }
  [[nodiscard]] std::size_t spectrum_row() const override { return one_->spectrum_row(); }
  [[nodiscard]] std::size_t bytes() const override { return one_->bytes(); }
  void to_modes(T* mesh, std::complex<T>* spectrum, int sign) override {
    for (std::size_t i = 0; i < count_; ++i) one_->to_modes(mesh + i * apart_, spectrum + i * step(), sign);
  }
  void clear(T* mesh, std::complex<T>* spectrum) override {
    for (std::size_t i = 0; i < count_; ++i) one_->clear(mesh + i * apart_, spectrum + i * step());
  }
  void to_mesh(std::complex<T>* spectrum, T* mesh, int sign) override {
    for (std::size_t i = 0; i < count_; ++i) one_->to_mesh(spectrum + i * step(), mesh + i * apart_, sign);
  }

 private:
  [[nodiscard]] std::size_t step() const { return one_->spectrum_size(); }

  std::unique_ptr<mode_transform<T>> one_;
  std::size_t count_;
  std::size_t apart_;  ///< numbers from one mesh to the next
};

}  // namespace quadrat::detail
