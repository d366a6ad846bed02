// SPDX-License-Identifier: BSD-3-Clause
#include "models/granular/ranks/rows_of_rank.hpp"

#include "models/granular/ranks/kernels.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat::detail {

template <typename T>
rows_of_rank<T>::rows_of_rank(const granular_setup<T>& setup)
    : reach_(reach(setup)),
      // A little less than half, for rounding.
      limit_(0.49 * kept_rows<T>::skin * static_cast<double>(setup.law.diameter)) {}

/// Distances of own grains are computed only if the sum of their moves is too large as a bound.
template <typename T>
bool rows_of_rank<T>::serve(const cpu_context& context, const packed_record<T, 3>* positions, std::size_t all,
                            double move) {
  if (!made_) return false;
  const auto farthest = [&](std::size_t first, std::size_t end) {
    const distance_moved<T> distance{positions + first, homes_.data() + first};
    return static_cast<double>(reduce_maximum(context, "granular.from homes", end - first, distance, scratch_));
  };
  moved_ += move;
  if (moved_ > limit_ && own_ > 0) moved_ = farthest(0, own_);
  made_ = moved_ <= limit_ && (all == own_ || farthest(own_, all) <= limit_);
  return made_;
}

/// Making rows takes about as long as a step by cells, and a step with rows a quarter to a half of that.
template <typename T>
bool rows_of_rank<T>::worth(double move, std::size_t steps) const {
  constexpr std::size_t least = 4;
  return !crowded_ && steps >= least && move * static_cast<double>(least) <= limit_;
}

template <typename T>
bool rows_of_rank<T>::make(const cpu_context& context, const typename row_lists<T>::cells_view& cells,
                           const grain_records<T>& grains, std::size_t own, std::size_t all) {
  own_ = own;
  moved_ = 0;
  homes_.resize_discarding(context, all);
  copy_bytes(context, grains.positions, homes_.data(), all * sizeof(*grains.positions));
  made_ = lists_.template make<false>(context, cells, grains, own, reach_);
  crowded_ = !made_;
  return made_;
}

template class rows_of_rank<float>;
template class rows_of_rank<double>;

}  // namespace quadrat::detail
