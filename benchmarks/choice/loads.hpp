// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contacts/engine.hpp"
#include "ewald/choice/cost.hpp"
#include "harness/report.hpp"
#include "keyed/cost.hpp"
#include "mesh/request.hpp"
#include "search/request.hpp"
#include "spectral/cost.hpp"

namespace quadrat::bench {

/// Converts the requests for which methods are chosen to JSON and back. With its load, a row can be judged again by
/// another profile, without a device.
[[nodiscard]] row to_row(const detail::point_sample& sample);
[[nodiscard]] row to_row(const detail::spread_request& request);
[[nodiscard]] row to_row(const detail::key_request& request);
[[nodiscard]] row to_row(const detail::neighbor_request& request);
[[nodiscard]] row to_row(const detail::pair_request& request);
[[nodiscard]] row to_row(const detail::ewald_work& work);
[[nodiscard]] row to_row(const detail::transform_load& load);

/// Throw nlohmann::json::exception where something is missing.
[[nodiscard]] detail::spread_request spread_request_of(const row& load);
[[nodiscard]] detail::key_request key_request_of(const row& load);
[[nodiscard]] detail::neighbor_request neighbor_request_of(const row& load);
[[nodiscard]] detail::pair_request pair_request_of(const row& load);
[[nodiscard]] detail::ewald_work ewald_work_of(const row& load);
[[nodiscard]] detail::transform_load transform_load_of(const row& load);

}  // namespace quadrat::bench
