// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/late_sample.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "core/cuda_check.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// The value of a word until it is written. It is not a valid key, since keys are below 2^31.
constexpr std::uint32_t not_written = 0xfffffffeu;
static_assert(not_written != no_key);

[[nodiscard]] bool all_written(std::uint32_t* words, std::size_t count) {
  return std::all_of(words, words + count, [](std::uint32_t& word) {
    return std::atomic_ref<std::uint32_t>(word).load(std::memory_order_relaxed) != not_written;
  });
}

/// Page-locked memory for samples, kept for reuse, because allocating it takes longer than many reductions.
class sample_slots {
 public:
  [[nodiscard]] std::uint32_t* take(const cuda_context& context, std::size_t words) {
    const std::lock_guard guard(lock_);
    // The slot of a reducer that did not wait becomes free when its kernel has run.
    std::erase_if(abandoned_, [this](const abandoned& one) {
      const bool done = all_written(one.words, one.count);
      if (done) free_.push_back(one.words);
      return done;
    });
    if (free_.empty()) allocate(context);
    std::uint32_t* const slot = free_.back();
    free_.pop_back();
    std::fill_n(slot, words, not_written);
    return slot;
  }
  void give_back(std::uint32_t* words, std::size_t count) {
    const std::lock_guard guard(lock_);
    abandoned_.push_back({words, count});
  }

 private:
  struct abandoned {
    std::uint32_t* words;
    std::size_t count;
  };
  static constexpr std::size_t slot_words = key_sample_layout::block, slots = 16;

  void allocate(const cuda_context& context) {
    context.activate();
    void* memory = nullptr;
    check_cuda(cudaHostAlloc(&memory, slots * slot_words * sizeof(std::uint32_t), cudaHostAllocPortable),
               "allocating page-locked memory");
    for (std::size_t k = 0; k < slots; ++k) free_.push_back(static_cast<std::uint32_t*>(memory) + k * slot_words);
  }

  std::mutex lock_;
  std::vector<std::uint32_t*> free_;
  std::vector<abandoned> abandoned_;
};

/// Lives until the process ends, because a kernel may still write to it.
[[nodiscard]] sample_slots& kept_samples() {
  static auto* const all = new sample_slots;
  return *all;
}

}  // namespace

void late_key_sample::start(const cuda_context& context, const key_source& source, const key_sample_layout& layout) {
  drop();
  layout_ = layout;
  words_ = kept_samples().take(context, layout.taken);
  for_each(context, "keyed.late_sample", layout.taken, take_key_sample{source, layout, words_});
}

std::optional<key_sample> late_key_sample::arrived() const {
  if (!started() || !all_written(words_, layout_.taken)) return {};
  return summarize(layout_, {words_, layout_.taken});
}

void late_key_sample::drop() noexcept {
  if (started()) kept_samples().give_back(words_, layout_.taken);
  words_ = nullptr;
}

}  // namespace quadrat::detail
