// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::detail {

/// `Size` values of T in a register, by the vector extension of GCC and Clang. It has operators, also between a vector
/// and a scalar, and one source serves every instruction set. A function with vectors larger than 16 bytes needs an
/// attribute of its own that enables instructions for them; it cannot inherit them by being inlined.
template <typename T, int Size>
struct cpu_vector {
  using type __attribute__((vector_size(Size * sizeof(T)))) = T;
  /// For memory that is aligned only for T.
  using anywhere __attribute__((vector_size(Size * sizeof(T)), aligned(sizeof(T)))) = T;
};

}  // namespace quadrat::detail
