// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/sorted/sums.hpp"

#include <algorithm>

#include "keyed/element_values.hpp"
#include "keyed/folds.hpp"
#include "keyed/sorted/partial_sums.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// Elements of a chunk, joined serially. Results depend on this number, but not on the number of threads.
constexpr std::size_t chunk_elements = 4096;

[[nodiscard]] std::size_t chunk_count(std::size_t count) { return (count + chunk_elements - 1) / chunk_elements; }

/// The open runs of a chunk, to be joined with its neighbors: the run that began before the chunk, and the run that
/// continues after it.
template <typename Partial, int Most>
struct chunk_ends {
  Partial first[Most];
  Partial last[Most];
  std::uint32_t last_key;  ///< no_key: no run is open at the end
  bool passes_through;     ///< the first run continues in the next chunk
};

/// Joins ordered elements to results that have been cleared. Source: `load(element, component)`. Most: components to
/// make room for, 1 or all.
template <typename Partial, int Most, typename Source, typename T>
class ordered_reduction {
 public:
  using ends_type = chunk_ends<Partial, Most>;

  ordered_reduction(const ordered_elements& elements, const Source& source, const component_values<T>& results,
                    ends_type* ends)
      : elements_(elements), source_(source), results_(results), ends_(ends) {}

  void run(const cpu_context& context) const {
    const auto chunks = static_cast<std::int64_t>(chunk_count(elements_.keys.count));
#pragma omp parallel num_threads(context.threads()) if (chunks > 1)
    {
#pragma omp for schedule(static)
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) reduce_chunk(static_cast<std::size_t>(chunk));
#pragma omp for schedule(static)
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) join_ends(static_cast<std::size_t>(chunk));
    }
  }

 private:
  [[nodiscard]] int components() const { return Most == 1 ? 1 : results_.components; }
  [[nodiscard]] std::size_t element(std::size_t place) const {
    return elements_.order != nullptr ? elements_.order[place] : place;
  }
  /// The key, or no_key if it is out of range; raises no fault.
  [[nodiscard]] std::uint32_t key_at(std::size_t place) const {
    const std::uint32_t key = elements_.keys.raw(place);
    return key < elements_.keys.key_count ? key : no_key;
  }
  [[nodiscard]] bool same_key(std::size_t place, std::uint32_t key) const {
    return place < elements_.keys.count && elements_.keys.raw(place) == key;
  }

  /// Each result is written by one thread, except for unordered keys, which are a fault: several threads may write one.
  void write(std::uint32_t key, const Partial* partials) const {
    for (int c = 0; c < components(); ++c) {
      T* const target = results_.component[c] + key * results_.stride;
      T old;
      __atomic_load(target, &old, __ATOMIC_RELAXED);
      Partial partial = partials[c];
      partial.join(old);
      T result = partial.result();
      __atomic_store(target, &result, __ATOMIC_RELAXED);
    }
  }

  /// Joins elements from `place` on, as long as they have that key and are before `last`. Returns where it stopped.
  std::size_t join_run(std::size_t place, std::size_t last, std::uint32_t key, Partial* partials) const {
    do {
      const std::size_t i = element(place);
      for (int c = 0; c < components(); ++c) partials[c].join(source_.load(i, c));
      ++place;
    } while (place < last && elements_.keys.raw(place) == key);
    return place;
  }

  void reduce_chunk(std::size_t chunk) const {
    const std::size_t first = chunk * chunk_elements;
    const std::size_t last = std::min(first + chunk_elements, elements_.keys.count);
    ends_type& ends = ends_[chunk];
    ends.last_key = no_key;
    ends.passes_through = false;
    std::size_t place = first;
    std::uint32_t before = first > 0 ? key_at(first - 1) : no_key;
    if (before != no_key && same_key(first, before)) {
      std::fill_n(ends.first, components(), Partial{});
      place = join_run(first, last, before, ends.first);
      ends.passes_through = place == last && same_key(last, before);
    }
    while (place < last) {
      const std::uint32_t key = elements_.keys.checked(elements_.keys.raw(place), element(place));
      if (key != no_key && before != no_key && key < before) {
        elements_.keys.faults.raise(fault_kind::order, element(place));
      }
      before = key;
      place = key == no_key ? place + 1 : reduce_run(place, last, key, ends);
    }
  }

  /// Joins a run that starts in the chunk.
  std::size_t reduce_run(std::size_t place, std::size_t last, std::uint32_t key, ends_type& ends) const {
    Partial partials[Most] = {};
    place = join_run(place, last, key, partials);
    if (place == last && same_key(last, key)) {
      ends.last_key = key;
      std::copy_n(partials, components(), ends.last);
    } else {
      write(key, partials);
    }
    return place;
  }

  /// Completes the open run of a chunk.
  void join_ends(std::size_t chunk) const {
    ends_type& start = ends_[chunk];
    if (start.last_key == no_key) return;
    for (bool open = true; open;) {
      const ends_type& next = ends_[++chunk];
      for (int c = 0; c < components(); ++c) start.last[c].join(next.first[c]);
      open = next.passes_through;
    }
    write(start.last_key, start.last);
  }

  ordered_elements elements_;
  Source source_;
  component_values<T> results_;
  ends_type* ends_;
};

using largest_ends = chunk_ends<compensated_sum<double>, most_value_components>;

template <typename Partial, int Most, typename Source, typename T>
void run_on_chunks(const cpu_context& context, const ordered_elements& elements, const Source& source,
                   const component_values<T>& results, std::byte* memory) {
  using reduction = ordered_reduction<Partial, Most, Source, T>;
  static_assert(sizeof(typename reduction::ends_type) <= sizeof(largest_ends));
  reduction(elements, source, results, reinterpret_cast<typename reduction::ends_type*>(memory)).run(context);
}

template <typename Partial, typename Source, typename T>
void run_ordered(const cpu_context& context, const ordered_elements& elements, const Source& source,
                 const component_values<T>& results, workspace<cpu_context>& scratch) {
  std::byte* memory = scratch.request(context, ordered_bytes(context, elements.keys.count));
  if (results.components == 1) {
    run_on_chunks<Partial, 1>(context, elements, source, results, memory);
  } else {
    run_on_chunks<Partial, most_value_components>(context, elements, source, results, memory);
  }
}

}  // namespace

std::size_t ordered_bytes(const cpu_context& /*context*/, std::size_t count) {
  return chunk_count(count) * sizeof(largest_ends);
}

template <typename T>
void reduce_ordered(const cpu_context& context, const ordered_elements& elements, const key_reduction<T>& reduction,
                    bool compensated, workspace<cpu_context>& scratch) {
  clear_results(context, reduction);
  const loaded_values<T> source{reduction.values};
  if constexpr (std::is_floating_point_v<T>) {
    if (compensated && reduction.fold == key_fold::sum) {
      return run_ordered<compensated_sum<T>>(context, elements, source, reduction.results, scratch);
    }
  }
  with_fold(reduction.fold, [&](auto fold) {
    run_ordered<plain_partial<decltype(fold), T>>(context, elements, source, reduction.results, scratch);
  });
}

void count_ordered(const cpu_context& context, const ordered_elements& elements, std::uint64_t* results,
                   bool accumulate, workspace<cpu_context>& scratch) {
  clear_counts(context, results, elements.keys.key_count, accumulate);
  run_ordered<plain_partial<sum_fold, std::uint64_t>>(context, elements, ones{},
                                                      packed_values(results, elements.keys.key_count), scratch);
}

template void reduce_ordered(const cpu_context&, const ordered_elements&, const key_reduction<std::int32_t>&, bool,
                             workspace<cpu_context>&);
template void reduce_ordered(const cpu_context&, const ordered_elements&, const key_reduction<std::int64_t>&, bool,
                             workspace<cpu_context>&);
template void reduce_ordered(const cpu_context&, const ordered_elements&, const key_reduction<float>&, bool,
                             workspace<cpu_context>&);
template void reduce_ordered(const cpu_context&, const ordered_elements&, const key_reduction<double>&, bool,
                             workspace<cpu_context>&);

#if !QUADRAT_HAS_CUDA

// A build without CUDA gives a clear error, not a link failure.
namespace {
[[noreturn]] void no_ordered_sums() {
  throw backend_error("this build of quadrat has no CUDA backend; configure it where nvcc is found, or use the CPU");
}
}  // namespace

std::size_t ordered_bytes(const cuda_context& /*context*/, std::size_t /*count*/) { no_ordered_sums(); }

template <typename T>
void reduce_ordered(const cuda_context& /*context*/, const ordered_elements& /*elements*/,
                    const key_reduction<T>& /*reduction*/, bool /*compensated*/, workspace<cuda_context>& /*scratch*/) {
  no_ordered_sums();
}
void count_ordered(const cuda_context& /*context*/, const ordered_elements& /*elements*/, std::uint64_t* /*results*/,
                   bool /*accumulate*/, workspace<cuda_context>& /*scratch*/) {
  no_ordered_sums();
}

template void reduce_ordered(const cuda_context&, const ordered_elements&, const key_reduction<std::int32_t>&, bool,
                             workspace<cuda_context>&);
template void reduce_ordered(const cuda_context&, const ordered_elements&, const key_reduction<std::int64_t>&, bool,
                             workspace<cuda_context>&);
template void reduce_ordered(const cuda_context&, const ordered_elements&, const key_reduction<float>&, bool,
                             workspace<cuda_context>&);
template void reduce_ordered(const cuda_context&, const ordered_elements&, const key_reduction<double>&, bool,
                             workspace<cuda_context>&);

#endif

}  // namespace quadrat::detail
