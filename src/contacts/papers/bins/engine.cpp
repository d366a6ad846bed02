// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/papers/bins/engine.hpp"

#include <type_traits>
#include <utility>

#include "contacts/bin_choice.hpp"
#include "contacts/rows.hpp"
#include "core/backend.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/sort.hpp"

namespace quadrat::detail {

namespace {

/// Stage 5, first half: where each bin begins in B. The paper traverses B once for all bins; here every entry checks
/// whether it is the first or the last of its bin. Index: entry of B.
struct find_bins {
  const cell_id* bin_of_B;
  const std::uint64_t* entries;
  std::uint32_t* first_of_bin;
  std::uint32_t* end_of_bin;  ///< zero at first

  QUADRAT_HD void operator()(std::size_t at) const {
    if (at >= *entries) return;
    const cell_id bin = bin_of_B[at];
    if (at == 0 || bin_of_B[at - 1] != bin) first_of_bin[bin] = static_cast<std::uint32_t>(at);
    if (at + 1 == *entries || bin_of_B[at + 1] != bin) end_of_bin[bin] = static_cast<std::uint32_t>(at + 1);
  }
};

/// Stage 5, second half: C, bodies per bin and the bin (slide 21), also for empty bins. Index: bin.
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

/// Stages 7 and 9: a row is a bin.
template <typename Context, typename T, typename Family>
class bin_rows final : public row_passes<contact_sink<T>> {
 public:
  bin_rows(const Context& context, const bins_search<T>& search, const Family& family)
      : row_passes<contact_sink<T>>(search.bins), context_(context), search_(search), family_(family) {}

  void count(std::uint32_t* contacts_D, count_limit&) const override {
    for_each(context_, "contacts.count", this->rows(), count_bin<T, Family>{search_, family_, contacts_D});
  }
  void fill(const contact_sink<T>& contacts_E, const std::uint64_t* offsets_of_D) const override {
    for_each(context_, "contacts.fill", this->rows(), fill_bin<T, Family>{search_, family_, contacts_E, offsets_of_D});
  }

 private:
  const Context& context_;
  bins_search<T> search_;
  Family family_;
};

}  // namespace

template <typename Context, typename T>
planned_bins<T> bins_engine<Context, T>::plan(const placed_bodies<Context, T>& bodies, const bin_options<T>& options) {
  const touched_bin_weights& weights =
      std::is_same_v<Context, cuda_context> ? nine_stages_weights_on_cuda : nine_stages_weights_on_cpu;
  bin_choice<T> choice = choose_touched_bins(bodies.domain, *bodies.sizes, options.size, weights);
  space_ = choice.space;
  edge_ = choice.edge;
  balanced_ = options.balanced;
  return {choice.edge, std::move(choice.reason)};
}

template <typename Context, typename T>
void bins_engine<Context, T>::insert(const placed_bodies<Context, T>& bodies) {
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
  const device_count& entries = touched_.entries_M();
  for_each(context, "contacts.bins.C", entries.most,
           find_bins{touched_.bin_of_B(), entries.value, first_of_bin_.data(), buffers.keys[0]});
  for_each(context, "contacts.bins.C", bins, count_bodies{first_of_bin_.data(), buffers.keys[0], buffers.values[0]});
  current_C_ = 0;
  if (balanced_) current_C_ = sort_pairs(context, buffers, bins, key_bits_for(count + 1), scratch_);
}

template <typename Context, typename T>
bins_search<T> bins_engine<Context, T>::search() const {
  return {space_,
          placed_,
          touched_.body_of_B(),
          first_of_bin_.data(),
          bodies_of_C_[current_C_].data(),
          bin_of_C_[current_C_].data(),
          space_.size()};
}

template <typename Context, typename T>
void bins_engine<Context, T>::find_contacts(contact_task<Context, T>& task) {
  insert(task.place());
  const auto find = [&](const auto& family) {
    task.find_in_rows(bin_rows<Context, T, std::remove_cvref_t<decltype(family)>>(this->context(), search(), family),
                      task.domain());
  };
  if (task.bodies().spheres()) {
    find(sphere_family<T>{task.domain(), task.groups()});
  } else {
    find(any_family<T>{task.domain(), task.groups(), task.bodies()});
  }
}

template <typename Context, typename T>
void bins_engine<Context, T>::find_pairs(const pair_task<Context, T>& /*task*/) {
  throw argument_error(message("the contact method ", bins_method::name, " ", bins_method::limits));
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
