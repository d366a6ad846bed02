// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <string>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat {

/// Slabs of a mesh: consecutive layers across the first axis, equally many for each rank except the last ones, which
/// may have fewer or none. A layout of distributed_fft. Throws argument_error for no ranks, and for extents
/// below 1.
template <int D>
[[nodiscard]] decomposition<D> slab_decomposition(const vec<int, D>& mesh, int ranks,
                                                  const vec<bool, D>& periodic = {});

/// Pencils of a mesh: blocks along the first two axes, with all points along the third. More ranks can take part than
/// with slabs. The number of blocks along each axis minimizes the largest part of a transform. Ranks left over are the
/// last ones, and have no block. Throws argument_error as slab_decomposition.
[[nodiscard]] decomposition<3> pencil_decomposition(const vec<int, 3>& mesh, int ranks,
                                                    const vec<bool, 3>& periodic = {});

/// How the mesh is divided among ranks.
enum class fft_layout {
  automatic,  ///< slabs, unless there are more ranks than layers across the first or the second axis
  slabs,      ///< one transposition, among all ranks
  pencils     ///< two transpositions, each among the ranks of one row: more messages, between fewer ranks
};

struct distributed_fft_options {
  /// Results stay transposed, which halves the communication: see distributed_fft.
  bool transposed = false;
  std::string library{};  ///< one of fft_libraries(); empty or "auto": chosen
  fft_layout layout = fft_layout::automatic;
};

/// Fourier transforms of a complex mesh in slabs or pencils, by transpositions over ranks. Move-only. All calls are
/// collective.
///
/// Rank r holds its block of slab_decomposition(mesh) or pencil_decomposition(mesh), C-ordered [x - x0][y - y0][z].
/// `forward` computes, in place and without a factor,
///     mode[k] = sum over mesh points j of mesh[j] exp(-2 pi i j k / n)
/// Mode k replaces mesh point k. With options.transposed each rank instead gets transposed_block(), a block across the
/// second axis, for pencils also across the third, as [y - y0][z - z0][x]. `inverse` takes the modes in the order that
/// `forward` leaves; applied after it, it gives the mesh times the number of mesh points. The same bits in every run
/// and on any number of ranks.
template <typename Context, typename T>
class distributed_fft {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Extents must be products of 2, 3 and 5. The communicator must outlive this. Throws on all ranks: argument_error
  /// for other extents, backend_error without an FFT library.
  distributed_fft(const Context& context, communicator& ranks, const vec<int, 3>& mesh,
                  const distributed_fft_options& options = {});

  /// Mesh points of this rank, and the complex numbers that the array must have room for (in both orders).
  [[nodiscard]] std::size_t mesh_size() const;
  [[nodiscard]] std::size_t room() const;
  /// Whether the mesh is in pencils.
  [[nodiscard]] bool in_pencils() const;
  /// The mesh points of this rank and, for transposed results, its modes.
  [[nodiscard]] cell_block<3> block() const;
  [[nodiscard]] cell_block<3> transposed_block() const;
  /// The layers of `block` along the first axis, and of `transposed_block` along the second.
  [[nodiscard]] index_range layers() const;
  [[nodiscard]] index_range transposed_layers() const;

  /// Wait. Allocate nothing after the first call.
  void forward(std::complex<T>* mesh) { forward_async(mesh), wait(); }
  void inverse(std::complex<T>* mesh) { inverse_async(mesh), wait(); }
  /// The same. Do not wait where the messages of the communicator do not. Allocate nothing after the first call.
  void forward_async(std::complex<T>* mesh);
  void inverse_async(std::complex<T>* mesh);

  [[nodiscard]] std::size_t bytes() const;

 private:
  void wait() const;

  struct implementation;
  detail::pimpl<implementation> implementation_;
};

/// The same for a real mesh. Only modes with k_z from 0 to n_z / 2 are kept, since the others are their complex
/// conjugates at -k. Half of the work, and half of the bytes sent. Move-only. All calls are collective.
///
/// Rank r holds its block of slab_decomposition(mesh) or pencil_decomposition(mesh), C-ordered [x - x0][y - y0][z].
/// `forward` gives mode_block(): [x - x0][y - y0][k_z] for the x and y of its mesh points, or, with options.transposed,
/// [y - y0][k_z - z0][x]. `inverse`, applied after it, gives the mesh times the number of mesh points. The modes must
/// be those of a real mesh: at k_z = 0 and n_z / 2 those at k and -k are conjugates. The same bits in every run on the
/// same number of ranks; on other numbers of ranks results differ by rounding.
template <typename Context, typename T>
class distributed_real_fft {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Extents must be products of 2, 3 and 5, and the last one even. The communicator must outlive this. Throws on all
  /// ranks: argument_error for other extents, backend_error without an FFT library.
  distributed_real_fft(const Context& context, communicator& ranks, const vec<int, 3>& mesh,
                       const distributed_fft_options& options = {});

  /// Mesh points of this rank, and the complex numbers that the array of modes must have room for.
  [[nodiscard]] std::size_t mesh_size() const;
  [[nodiscard]] std::size_t room() const;
  [[nodiscard]] bool in_pencils() const;
  [[nodiscard]] cell_block<3> block() const;
  [[nodiscard]] cell_block<3> mode_block() const;

  /// Overwrites the mesh. Waits. Allocates nothing after the first call.
  void forward(T* mesh, std::complex<T>* modes) { forward_async(mesh, modes), wait(); }
  /// Overwrites the modes. Waits. Allocates nothing after the first call.
  void inverse(std::complex<T>* modes, T* mesh) { inverse_async(modes, mesh), wait(); }
  /// The same. Do not wait where the messages of the communicator do not. Allocate nothing after the first call.
  void forward_async(T* mesh, std::complex<T>* modes);
  void inverse_async(std::complex<T>* modes, T* mesh);

  [[nodiscard]] std::size_t bytes() const;

 private:
  void wait() const;

  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
