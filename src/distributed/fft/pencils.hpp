// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "distributed/fft/slabs.hpp"
#include "distributed/fft/transposed_transform.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat::detail {

/// The arrangement of ranks over a mesh: `along_x` groups of `along_y` ranks. Further ranks have no part of the mesh.
struct pencil_ranks {
  int along_x, along_y;
};

/// The arrangement whose largest part of a mesh, over the three stages of a transform, is smallest. Among equal ones it
/// has the most ranks along x, which needs the fewest messages.
[[nodiscard]] pencil_ranks arranged_ranks(const vec<int, 3>& mesh, int ranks);

/// Transforms of a mesh in pencils: lines along z; a transposition among the ranks of a group; lines along y; a
/// transposition among the ranks at the same place of all groups; lines along x. A rank first has [x][y][z] for all z,
/// then [x][z][y] for all y, then [y][z][x] for all x. (H. Q. Ding, R. D. Ferraro, D. B. Gennery, A portable 3D FFT
/// package for distributed-memory parallel architectures, 1995.) Deterministic.
template <typename Context, typename T>
class pencil_transform final : public transposed_transform<T> {
 public:
  using number = moved_number<T>;

  pencil_transform(const Context& context, communicator& ranks, const transposed_mesh& mesh,
                   const pencil_ranks& arranged, const std::string& library);

  [[nodiscard]] cell_block<3> first_block() const override { return first_; }
  [[nodiscard]] cell_block<3> last_block() const override { return last_; }
  [[nodiscard]] std::size_t room() const override;
  [[nodiscard]] std::size_t bytes() const override;

  void forward(T* real, number* data) override;
  void inverse(number* data, T* real) override;
  void to_natural(number* data) override;
  void to_transposed(number* data) override;

 private:
  using transform_type = std::unique_ptr<mode_transform<T>>;

  /// One of the two transpositions: lines are split into pieces for the ranks of `partners`, and the pieces received
  /// are joined to lines of the other axis.
  struct transposition {
    vec<int, 3> from;           ///< extents on this rank before; the last is split into pieces of `width`
    vec<int, 3> to;             ///< extents on this rank after; the last is joined from pieces of `width_joined`
    int width, width_joined;    ///< of all pieces except shorter last ones
    bool outward;               ///< pieces are stored as [c][b][a], otherwise as [a][c][b]
    std::vector<int> partners;  ///< ranks, in order of their pieces
    std::vector<std::size_t> sent, received;
  };

  [[nodiscard]] transform_type lines(int length, std::size_t count, bool real, const std::string& library) const;
  [[nodiscard]] transposition among_group() const;
  [[nodiscard]] transposition across_groups() const;
  void exchange(const std::vector<int>& partners, const std::vector<std::size_t>& sent,
                const std::vector<std::size_t>& received);
  void part(const transposition& plan, number* data, number* pieces, bool into);
  void join(const transposition& plan, number* data, number* pieces, bool back);
  void transpose(const transposition& plan, number* data);
  void transpose_back(const transposition& plan, number* data);

  Context context_;
  communicator& ranks_;
  vec<int, 3> mesh_;  ///< extents in modes
  pencil_ranks arranged_;
  int x_ = 0, y_ = 0;  ///< this rank's place
  bool idle_;
  cell_block<3> first_{}, middle_{}, last_{};
  transposition inner_, outer_;
  transform_type along_[3];
  array<number, Context> out_, in_;
};

}  // namespace quadrat::detail
