// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "keyed/details.hpp"
#include "keyed/source.hpp"
#include "quadrat/keyed/key_reducer.hpp"

namespace quadrat::detail {

/// Operations of engines; a mean is a sum and a count.
enum class key_fold { sum, minimum, maximum };

/// One call. Counts and components have been checked.
template <typename T>
struct key_reduction {
  key_fold fold;
  component_values<const T> values;
  component_values<T> results;
  bool accumulate;
};

/// The arguments of an engine's constructor.
struct key_setup {
  std::uint32_t key_count;
  key_reducer_options options;
  key_details details{};
};

/// A method of reduction. The reducer has checked all arguments.
template <typename Context>
class key_engine {
 public:
  virtual ~key_engine() = default;

  /// The most elements that the method can take.
  [[nodiscard]] virtual std::uint64_t most_elements() const { return ~std::uint64_t{0}; }
  /// The approximate memory in bytes for `count` elements; called before anything is allocated.
  [[nodiscard]] virtual std::size_t bytes_needed(std::size_t count) const = 0;
  /// Sets the keys, and prepares data for reuse. Asynchronous on CUDA.
  virtual void set_keys(const key_source& keys) = 0;
  /// Asynchronous; allocate nothing. Results are overwritten, or joined to with `accumulate`. There may be no elements.
  virtual void reduce(const key_reduction<std::int32_t>& reduction) = 0;
  virtual void reduce(const key_reduction<std::int64_t>& reduction) = 0;
  virtual void reduce(const key_reduction<float>& reduction) = 0;
  virtual void reduce(const key_reduction<double>& reduction) = 0;
  virtual void count(std::uint64_t* results, bool accumulate) = 0;
  /// Bytes held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// Makes the engine of a method of quadrat::papers: see core/paper_methods.hpp.
template <typename Context>
using key_engine_maker = std::unique_ptr<key_engine<Context>>(const Context&, const key_setup&);

/// Writes the four overloads of an engine once: Engine has `template <typename T> void run(const key_reduction<T>&)`,
/// instantiated in its own source.
template <typename Context, typename Engine>
class typed_key_engine : public key_engine<Context> {
 public:
  void reduce(const key_reduction<std::int32_t>& reduction) override { engine().run(reduction); }
  void reduce(const key_reduction<std::int64_t>& reduction) override { engine().run(reduction); }
  void reduce(const key_reduction<float>& reduction) override { engine().run(reduction); }
  void reduce(const key_reduction<double>& reduction) override { engine().run(reduction); }

 private:
  [[nodiscard]] Engine& engine() { return static_cast<Engine&>(*this); }
};

/// An engine that reads the caller's keys in every reduction, and holds no memory.
template <typename Context, typename Engine>
class streaming_key_engine : public typed_key_engine<Context, Engine> {
 public:
  streaming_key_engine(const Context& context, const key_setup& /*setup*/) : context_(context) {}

  [[nodiscard]] std::size_t bytes_needed(std::size_t /*count*/) const override { return 0; }
  void set_keys(const key_source& keys) override { keys_ = keys; }
  [[nodiscard]] std::size_t bytes() const override { return 0; }

 protected:
  Context context_;
  key_source keys_{};
};

/// Fills the results with the identity of the operation, unless they are accumulated; then NaNs in extremes are
/// replaced. Every reduction starts with this. Asynchronous.
template <typename Context, typename T>
void clear_results(const Context& context, const key_reduction<T>& reduction);
/// Fills the results with zeros, unless `accumulate`.
template <typename Context>
void clear_counts(const Context& context, std::uint64_t* results, std::uint32_t key_count, bool accumulate);

}  // namespace quadrat::detail
