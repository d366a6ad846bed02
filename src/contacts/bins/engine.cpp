// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/bins/engine.hpp"

#include <type_traits>
#include <utility>

#include "contacts/bins/choice.hpp"
#include "core/backend.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// Stage 5, first half: where each bin begins in B. The paper traverses B once for all bins; here every entry checks
/// whether it is the first or the last of its bin. Index: entry of B.
struct find_bins {
  const cell_id* bin_of_B;
  std::size_t entries;
  std::uint32_t* first_of_bin;
  std::uint32_t* end_of_bin;  ///< zero at first

  QUADRAT_HD void operator()(std::size_t at) const {
    const cell_id bin = bin_of_B[at];
    if (at == 0 || bin_of_B[at - 1] != bin) first_of_bin[bin] = static_cast<std::uint32_t>(at);
    if (at + 1 == entries || bin_of_B[at + 1] != bin) end_of_bin[bin] = static_cast<std::uint32_t>(at + 1);
  }
};

/// Stage 5, second half: C, bodies per bin and the bin (slide 21), for empty bins, too. Index: bin.
struct count_bodies {
  const std::uint32_t* first_of_bin;
  std::uint32_t* bodies_of_C;  ///< in: where each bin ends; out: its number of bodies
  cell_id* bin_of_C;

  QUADRAT_HD void operator()(std::size_t bin) const {
    const std::uint32_t end = bodies_of_C[bin];
    bodies_of_C[bin] = end == 0 ? 0 : end - first_of_bin[bin];
    bin_of_C[bin] = static_cast<cell_id>(bin);
  }
};

}  // namespace

template <typename Context, typename T>
planned_bins<T> bins_engine<Context, T>::plan(const placed_bodies<T>& bodies, const bin_options<T>& options) {
  const touched_bin_weights& weights =
      std::is_same_v<Context, cuda_context> ? nine_stages_weights_on_cuda : nine_stages_weights_on_cpu;
  bin_choice<T> choice = choose_touched_bins(bodies.domain, *bodies.sizes, options.size, weights);
  space_ = choice.space;
  edge_ = choice.edge;
  balanced_ = options.balanced;
  return {choice.edge, std::move(choice.reason)};
}

template <typename Context, typename T>
void bins_engine<Context, T>::insert(const placed_bodies<T>& bodies) {
  placed_ = bodies.bodies;
  touched_.find(this->context(), bodies, space_, edge_);
  count_bodies_of_bins(bodies.count);
}

/// Stages 5 and 6.
template <typename Context, typename T>
void bins_engine<Context, T>::count_bodies_of_bins(std::size_t count) {
  const Context& context = this->context();
  const std::size_t bins = space_.size();
  sort_buffers<std::uint32_t> buffers{};
  for (int copy = 0; copy < 2; ++copy) {
    bodies_of_C_[copy].resize_discarding(context, bins);
    bin_of_C_[copy].resize_discarding(context, bins);
    buffers.keys[copy] = bodies_of_C_[copy].data();
    buffers.values[copy] = bin_of_C_[copy].data();
  }
  first_of_bin_.resize_discarding(context, bins);
  fill_bytes(context, buffers.keys[0], 0, bins * sizeof(std::uint32_t));
  for_each(context, "contacts.bins.C", touched_.entries_M(),
           find_bins{touched_.bin_of_B(), touched_.entries_M(), first_of_bin_.data(), buffers.keys[0]});
  for_each(context, "contacts.bins.C", bins, count_bodies{first_of_bin_.data(), buffers.keys[0], buffers.values[0]});
  current_C_ = 0;
  if (balanced_) current_C_ = sort_pairs(context, buffers, bins, key_bits_for(count + 1), scratch_);
  rows_ = bins;
}

template <typename Context, typename T>
bins_search<T> bins_engine<Context, T>::search() const {
  return {space_,
          placed_,
          touched_.body_of_B(),
          first_of_bin_.data(),
          bodies_of_C_[current_C_].data(),
          bin_of_C_[current_C_].data(),
          rows_};
}

template <typename Context, typename T>
void bins_engine<Context, T>::count(const sphere_family<T>& family, std::uint32_t* counts, count_limit&) const {
  count_contacts(family, counts);
}

template <typename Context, typename T>
void bins_engine<Context, T>::count(const any_family<T>& family, std::uint32_t* counts, count_limit&) const {
  count_contacts(family, counts);
}

template <typename Context, typename T>
void bins_engine<Context, T>::fill(const sphere_family<T>& family, const contact_sink<T>& sink,
                                   const std::uint64_t* offsets) const {
  fill_contacts(family, sink, offsets);
}

template <typename Context, typename T>
void bins_engine<Context, T>::fill(const any_family<T>& family, const contact_sink<T>& sink,
                                   const std::uint64_t* offsets) const {
  fill_contacts(family, sink, offsets);
}

template <typename Context, typename T>
template <typename Family>
void bins_engine<Context, T>::count_contacts(const Family& family, std::uint32_t* contacts_D) const {
  for_each(this->context(), "contacts.count", rows_, count_bin<T, Family>{search(), family, contacts_D});
}

template <typename Context, typename T>
template <typename Family>
void bins_engine<Context, T>::fill_contacts(const Family& family, const contact_sink<T>& contacts_E,
                                            const std::uint64_t* offsets_of_D) const {
  for_each(this->context(), "contacts.fill", rows_, fill_bin<T, Family>{search(), family, contacts_E, offsets_of_D});
}

template <typename Context, typename T>
std::size_t bins_engine<Context, T>::bytes() const {
  std::size_t sum = touched_.bytes() + first_of_bin_.bytes() + scratch_.bytes();
  for (int copy = 0; copy < 2; ++copy) sum += bodies_of_C_[copy].bytes() + bin_of_C_[copy].bytes();
  return sum;
}

template class bins_engine<backend_context, float>;
template class bins_engine<backend_context, double>;

}  // namespace quadrat::detail
