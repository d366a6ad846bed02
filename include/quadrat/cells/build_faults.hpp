// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "quadrat/core/error.hpp"
#include "quadrat/parallel/fault.hpp"

namespace quadrat::detail {

/// The faults raised by the builds of a structure. They stay until the next check: none is lost in a long asynchronous
/// run, and no build has to clear them. A check that finds one makes the structure unusable until the next build.
template <typename Context>
class build_faults {
 public:
  explicit build_faults(const Context& context) : faults_(context) {}

  [[nodiscard]] fault_flag flag() { return faults_.flag(); }
  void begin() { stage_ = stage::built; }
  /// Synchronizes. Returns the faults of the builds since the last check, or again those of a failed check.
  [[nodiscard]] fault_report check(const Context& context) {
    if (stage_ == stage::failed) return found_;
    found_ = faults_.read(context);
    if (found_.kind != fault_kind::none) {
      stage_ = stage::failed;
      faults_.clear(context);
    }
    return found_;
  }
  /// Throws argument_error when nothing has been built, or the last check has found a fault.
  void require_usable() const {
    require(stage_ != stage::empty, "nothing has been built yet; call build first");
    require(stage_ != stage::failed, "the last check has found a fault; build again before using the result");
  }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] static constexpr std::size_t bytes() { return 2 * sizeof(std::uint64_t); }

 private:
  enum class stage { empty, built, failed };

  fault_state<Context> faults_;
  fault_report found_{};
  stage stage_ = stage::empty;
};

}  // namespace quadrat::detail
