// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "distributed/fft/slab_moves.hpp"
#include "distributed/fft/transposed_transform.hpp"
#include "distributed/ranks/direct_ranks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/distributed/communicator.hpp"

namespace quadrat::detail {

/// Transforms of a mesh in slabs: planes, a transposition among all ranks, lines along x. If ranks can write to each
/// other's memory, one kernel transposes to the final places; otherwise it transposes into pieces, which are sent.
/// Deterministic.
template <typename Context, typename T>
class slab_transform final : public transposed_transform<T> {
 public:
  using number = moved_number<T>;

  slab_transform(const Context& context, communicator& ranks, const transposed_mesh& mesh, const std::string& library);

  [[nodiscard]] cell_block<3> first_block() const override { return {{x0_, 0, 0}, {x1_, modes_[1], modes_[2]}}; }
  [[nodiscard]] cell_block<3> last_block() const override { return {{0, y0_, 0}, {modes_[0], y1_, modes_[2]}}; }
  [[nodiscard]] std::size_t room() const override;
  [[nodiscard]] std::size_t bytes() const override;

  void forward(T* real, number* data) override;
  void inverse(number* data, T* real) override;
  void to_natural(number* data) override;
  void to_transposed(number* data) override;

 private:
  [[nodiscard]] std::size_t layer_numbers(int layers, int extent) const;
  [[nodiscard]] std::vector<std::size_t> parts(int own, int extent) const;
  void exchange(const std::vector<std::size_t>& sent, const std::vector<std::size_t>& received);
  void part(number* data, number* pieces, bool into);
  void join(number* data, number* pieces, bool back);
  [[nodiscard]] bool writes_directly();
  void write_transposed(const number* data);
  void write_natural(const number* data);
  void between_marks(const transposition<T>& what, const char* name);

  Context context_;
  communicator& ranks_;
  vec<int, 3> modes_;
  int x0_, x1_, y0_, y1_;
  std::unique_ptr<mode_transform<T>> planes_;  ///< along y and z of each own layer
  std::unique_ptr<mode_transform<T>> lines_;   ///< along x, of the transposed mesh
  array<number, Context> out_, in_;
  bool looked_ = false, direct_ = false;
  direct_ranks* others_ = nullptr;  ///< set if there are several ranks that can write to each other
  std::vector<number*> arrivals_;   ///< in_ of each rank, if it is written directly
};

}  // namespace quadrat::detail
