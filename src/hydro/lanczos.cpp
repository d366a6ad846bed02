// SPDX-License-Identifier: BSD-3-Clause
#include "hydro/lanczos.hpp"

#include <bit>
#include <cstdint>

#include "core/backend.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat::detail {

namespace {

/// Fills a vector, and returns its square. Index: slot.
template <typename T>
struct draw_noise {
  const particle_id* ids;
  noise_words words;
  sphere_vector<T>* to;

  QUADRAT_HD double operator()(std::size_t slot) const {
    const philox_block block = words.of(0, ids[slot]);
    const vec<T, 2> first = normal_pair<T>(block.word[0], block.word[1]);
    const vec<T, 3> z{first[0], first[1], normal_pair<T>(block.word[2], block.word[3])[0]};
    to[slot] = {z, T(0)};
    return static_cast<double>(squared_norm(z));
  }
};

[[nodiscard]] QUADRAT_HD inline double inverse_length(const double* square) {
  return *square > 0 ? 1 / std::sqrt(*square) : 0;
}

/// next = A v - |here| v_before, for v = here / |here|; gives here . next. Index: slot.
template <typename T>
struct multiply_basis {
  near_rows<T> near;
  const T* waves;
  const sphere_vector<T>* here;
  const sphere_vector<T>* before;  ///< nullptr: none
  const double* square;            ///< of `here`; the square of `before` is two places earlier
  sphere_vector<T>* next;

  QUADRAT_HD double operator()(std::size_t slot) const {
    vec<T, 3> sum = near.times(slot, [&](std::size_t other) { return here[other].value; });
    if (waves != nullptr) {
      for (int axis = 0; axis < 3; ++axis) sum[axis] += waves[static_cast<std::size_t>(axis) * near.count + slot];
    }
    sum *= static_cast<T>(inverse_length(square));
    if (before != nullptr) {
      sum -= static_cast<T>(std::sqrt(*square) * inverse_length(square - 2)) * before[slot].value;
    }
    next[slot] = {sum, T(0)};
    return static_cast<double>(dot(here[slot].value, sum));
  }
};

/// Makes `next` perpendicular to `here`, and returns its square. Index: slot.
template <typename T>
struct straighten_basis {
  const sphere_vector<T>* here;
  const double* square;
  const double* product;
  sphere_vector<T>* next;

  QUADRAT_HD double operator()(std::size_t slot) const {
    const double inverse = inverse_length(square);
    const vec<T, 3> rest = next[slot].value - static_cast<T>(*product * inverse * inverse) * here[slot].value;
    next[slot] = {rest, T(0)};
    return static_cast<double>(squared_norm(rest));
  }
};

}  // namespace

template <typename Context, typename T>
sphere_vector<T>* lanczos_basis<Context, T>::room(const Context& context, int j) {
  const auto number = static_cast<std::size_t>(j);
  while (vectors_.size() <= number) vectors_.emplace_back();
  vectors_[number].resize_discarding(context, count_ + (ranks_ == nullptr ? 0 : ranks_->ghosts()));
  return vectors_[number].data();
}

template <typename Context, typename T>
void lanczos_basis<Context, T>::begin(const Context& context, std::size_t count, const particle_id* ids,
                                      const noise_words& words, int most, lanczos_ranks<T>* ranks) {
  count_ = count;
  ranks_ = ranks;
  scalars_.resize_discarding(context, 2 * static_cast<std::size_t>(most) + 1);
  sphere_vector<T>* const first = room(context, 0);
  reduce_into(context, "mobility.noise", count_, draw_noise<T>{ids, words, first}, plus_operation{}, 0.0,
              scalars_.data(), scratch_);
  complete(first, scalars_.data());
}

/// Over ranks: fetches the ghosts of a new vector, and sums its square.
template <typename Context, typename T>
void lanczos_basis<Context, T>::complete(sphere_vector<T>* vector, double* square) {
  if (ranks_ == nullptr) return;
  ranks_->add_up(square);
  ranks_->fetch_ghosts(vector);
}

template <typename Context, typename T>
void lanczos_basis<Context, T>::advance(const Context& context, int j, const near_rows<T>& near, const T* waves) {
  sphere_vector<T>* const next = room(context, j + 1);
  double* const square = scalars_.data() + 2 * j;
  reduce_into(context, "mobility.product", count_,
              multiply_basis<T>{near, waves, vector(j), j > 0 ? vector(j - 1) : nullptr, square, next},
              plus_operation{}, 0.0, square + 1, scratch_);
  if (ranks_ != nullptr) ranks_->add_up(square + 1);
  reduce_into(context, "mobility.straighten", count_, straighten_basis<T>{vector(j), square, square + 1, next},
              plus_operation{}, 0.0, square + 2, scratch_);
  complete(next, square + 2);
}

template <typename Context, typename T>
std::vector<double> lanczos_basis<Context, T>::read(const Context& context, std::size_t count) {
  constexpr std::size_t mirrored = 256;
  if (count > mirrored) return to_host(context, scalars_.data(), count);
  const std::uint64_t* const words =
      mirror_.read(context, reinterpret_cast<const std::uint64_t*>(scalars_.data()), count);
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = std::bit_cast<double>(words[i]);
  return result;
}

template <typename Context, typename T>
lanczos_result lanczos_basis<Context, T>::judge(const Context& context, int iterations, double tolerance, int looks) {
  const auto count = static_cast<std::size_t>(iterations);
  const std::vector<double> scalars = read(context, 2 * count + 1);
  lengths_.resize(count + 1);
  std::vector<double> diagonal(count);
  for (std::size_t j = 0; j <= count; ++j) {
    lengths_[j] = std::sqrt(scalars[2 * j]);
    if (j < count) diagonal[j] = lengths_[j] > 0 ? scalars[2 * j + 1] / lengths_[j] : 0;
  }
  return judge_lanczos(diagonal, lengths_, tolerance, looks);
}

template <typename Context, typename T>
std::size_t lanczos_basis<Context, T>::bytes() const {
  std::size_t sum = scalars_.bytes() + scratch_.bytes();
  for (const auto& vector : vectors_) sum += vector.bytes();
  return sum;
}

template class lanczos_basis<backend_context, float>;
template class lanczos_basis<backend_context, double>;

}  // namespace quadrat::detail
