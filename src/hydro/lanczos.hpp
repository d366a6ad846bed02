// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "hydro/near_matrix.hpp"
#include "hydro/normals.hpp"
#include "hydro/place.hpp"
#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/workspace.hpp"

/// The root of a positive operator A times a random vector z, by the Lanczos method (Ando, Chow, Saad, Skolnick 2012):
/// |z| V T^(1/2) e_1, where the columns of V are an orthonormal basis of the Krylov space of A and z, and T is A there.
namespace quadrat::detail {

/// The result after some iterations.
struct lanczos_result {
  int iterations = 0;
  bool converged = false;
  double error = 0;                    ///< relative, estimated from the last changes
  std::vector<double> coefficients{};  ///< of the basis, for |z| = 1
};

/// Judges by T. `diagonal`: that of T. `lengths`: of the basis vectors before normalization; the first is |z|, and the
/// others are below the diagonal of T. Uses the fewest iterations that reach the tolerance `looks` times in a row. So
/// results do not depend on how many were made.
[[nodiscard]] lanczos_result judge_lanczos(std::span<const double> diagonal, std::span<const double> lengths,
                                           double tolerance, int looks = 1);

/// Ranks that share the rows. A vector has the rank's own rows first, then ghosts.
template <typename T>
class lanczos_ranks {
 public:
  lanczos_ranks() = default;
  lanczos_ranks(const lanczos_ranks&) = delete;
  lanczos_ranks& operator=(const lanczos_ranks&) = delete;
  virtual ~lanczos_ranks() = default;

  [[nodiscard]] virtual std::size_t ghosts() const = 0;
  /// Copies to ghosts the values of their owners.
  virtual void fetch_ghosts(sphere_vector<T>* vector) = 0;
  /// Replaces a number of each rank, in the memory of its context, by the sum over ranks.
  virtual void add_up(double* number) = 0;
};

/// Basis vectors are stored unnormalized, with their lengths, which the host needs only at the end.
template <typename Context, typename T>
class lanczos_basis {
 public:
  /// Vector 0 is random, by id. Asynchronous, but not over ranks; `ranks` is used until the next call.
  void begin(const Context& context, std::size_t count, const particle_id* ids, const noise_words& words, int most,
             lanczos_ranks<T>* ranks = nullptr);
  /// Makes vector j + 1 from j, with A = near + waves. `waves`: three arrays of `count` numbers, the wave part of A
  /// times vector j, or nullptr. Asynchronous, but may allocate.
  void advance(const Context& context, int j, const near_rows<T>& near, const T* waves);
  /// Judges the first `iterations`. Synchronizes.
  [[nodiscard]] lanczos_result judge(const Context& context, int iterations, double tolerance, int looks);

  [[nodiscard]] const sphere_vector<T>* vector(int j) const { return vectors_[static_cast<std::size_t>(j)].data(); }
  /// After `judge`: the factor of coefficients[j] for the unnormalized basis vector j.
  [[nodiscard]] double factor(int j) const { return length_of(0) / length_of(j); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] double length_of(int j) const { return lengths_[static_cast<std::size_t>(j)]; }
  [[nodiscard]] sphere_vector<T>* room(const Context& context, int j);
  [[nodiscard]] std::vector<double> read(const Context& context, std::size_t count);
  void complete(sphere_vector<T>* vector, double* square);

  std::size_t count_ = 0;
  lanczos_ranks<T>* ranks_ = nullptr;
  std::vector<array<sphere_vector<T>, Context>> vectors_;
  array<double, Context> scalars_;  // 2 j: the square of vector j; 2 j + 1: vector j times A times vector j
  host_mirror<Context> mirror_;
  std::vector<double> lengths_;
  workspace<Context> scratch_;
};

}  // namespace quadrat::detail
