// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <string>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat {

/// Slabs of a mesh: consecutive layers across the first axis, as many for each rank but the last ones, which may have
/// fewer or none. The layout of distributed_fft. Throws argument_error for no ranks, and extents below 1.
template <int D>
[[nodiscard]] decomposition<D> slab_decomposition(const vec<int, D>& mesh, int ranks,
                                                  const vec<bool, D>& periodic = {});

struct distributed_fft_options {
  /// Results stay transposed, which saves half of the communication: see distributed_fft.
  bool transposed = false;
  std::string library{};  ///< one of fft_libraries(); empty: chosen
};

/// Fourier transforms of a complex mesh in slabs, by a transposition over all ranks. Move-only. All calls are
/// collective and, on CUDA, asynchronous where messages are.
///
/// Rank r holds the layers [x0, x1) of slab_decomposition(mesh), C-ordered [x - x0][y][z]. `forward` gives the sums
/// without a factor
///     mode[k] = sum over mesh points j of mesh[j] exp(-2 pi i j k / n)
/// in place, with mode k at the place of the mesh point k; or, if options.transposed, each rank gets the layers [y0,
/// y1) across the second axis, of slabs of ny layers, as [y - y0][z][x]. `inverse` is its inverse times the number of
/// mesh points, from the order that `forward` leaves. The same bits in every run and on any number of ranks.
template <typename Context, typename T>
class distributed_fft {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Extents are products of 2, 3 and 5. The communicator must outlive this. Throws argument_error on all ranks for
  /// others, backend_error without an FFT library.
  distributed_fft(const Context& context, communicator& ranks, const vec<int, 3>& mesh,
                  const distributed_fft_options& options = {});
  distributed_fft(distributed_fft&&) noexcept;
  distributed_fft& operator=(distributed_fft&&) noexcept;
  ~distributed_fft();

  /// Mesh points of this rank, and numbers for which the array must have room, in both orders.
  [[nodiscard]] std::size_t mesh_size() const;
  [[nodiscard]] std::size_t room() const;
  /// Layers of this rank across the first axis and, of transposed results, across the second.
  [[nodiscard]] index_range layers() const;
  [[nodiscard]] index_range transposed_layers() const;

  void forward(std::complex<T>* mesh);
  void inverse(std::complex<T>* mesh);

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace quadrat
