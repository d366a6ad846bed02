// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace quadrat::detail {

/// `Size` values of T in a register, by the vector extension of GCC and Clang: with operators, also for a vector and a
/// scalar, and one source for every instruction set. A function whose vectors are larger than 16 bytes must be compiled
/// for instructions that have them, by its own attribute: inlining comes too late.
template <typename T, int Size>
struct cpu_vector {
  using type __attribute__((vector_size(Size * sizeof(T)))) = T;
  /// For access to memory that is only aligned for T.
  using anywhere __attribute__((vector_size(Size * sizeof(T)), aligned(sizeof(T)))) = T;
};

}  // namespace quadrat::detail
