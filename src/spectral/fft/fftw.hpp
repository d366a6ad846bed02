// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "quadrat/core/context.hpp"
#include "spectral/transform.hpp"

/// Libraries with the interface of FFTW 3, loaded at run time.
namespace quadrat::detail {

/// The FFTW functions used here, as declared in fftw3.h. Numbers of type T are reals; complex ones are
/// pairs.
template <typename T>
struct fftw_functions {
  using plan = void*;
  using complex = T (*)[2];

  plan (*many)(int rank, const int* n, int howmany, complex in, const int* in_extents, int in_stride, int in_distance,
               complex out, const int* out_extents, int out_stride, int out_distance, int sign, unsigned flags);
  plan (*many_from_real)(int rank, const int* n, int howmany, T* in, const int* in_extents, int in_stride,
                         int in_distance, complex out, const int* out_extents, int out_stride, int out_distance,
                         unsigned flags);
  plan (*many_to_real)(int rank, const int* n, int howmany, complex in, const int* in_extents, int in_stride,
                       int in_distance, T* out, const int* out_extents, int out_stride, int out_distance,
                       unsigned flags);
  void (*execute)(plan plan, complex in, complex out);
  void (*execute_from_real)(plan plan, T* in, complex out);
  void (*execute_to_real)(plan plan, complex in, T* out);
  void (*destroy)(plan plan);
  int (*set_local_threads)(int);  ///< MKL: the number of threads for plans made by this thread; else nullptr
};

/// The functions of FFTW (one library per precision) or MKL; nullptr if it was not found.
template <typename T>
[[nodiscard]] const fftw_functions<T>* fftw_library();
template <typename T>
[[nodiscard]] const fftw_functions<T>* mkl_library();

/// Transforms by such a library, line by line over the threads of the context; a single line by one
/// thread.
template <typename T>
[[nodiscard]] std::unique_ptr<mode_transform<T>> make_fftw_transform(const fftw_functions<T>& library,
                                                                     const cpu_context& context,
                                                                     const transform_shape& shape);

}  // namespace quadrat::detail
