// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "keyed/key_engine.hpp"

namespace quadrat::detail {

/// One atomic operation an element and component; with one thread, a plain one.
class cpu_atomic_engine : public typed_key_engine<cpu_context, cpu_atomic_engine> {
 public:
  cpu_atomic_engine(const cpu_context& context, const key_setup& setup) : context_(context), setup_(setup) {}

  [[nodiscard]] std::size_t bytes_needed(std::size_t /*count*/) const override { return 0; }
  void set_keys(const key_source& keys) override { keys_ = keys; }
  void count(std::uint64_t* results, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override { return 0; }
  template <typename T>
  void run(const key_reduction<T>& reduction);

 private:
  cpu_context context_;
  key_setup setup_;
  key_source keys_{};
};

}  // namespace quadrat::detail
