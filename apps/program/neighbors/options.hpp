// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "program/box_options.hpp"
#include "program/device_options.hpp"

namespace quadrat::program {

/// The command line of `quadrat neighbors`.
struct neighbors_options {
  std::string points;
  double cutoff = 0;  ///< 0: none, with knn
  int knn = 0;        ///< neighbors a point; 0: all pairs nearer than the cutoff
  box_options box;
  bool half = false;
  bool rdf = false;  ///< radial distribution functions instead of pairs
  std::optional<std::int64_t> bins;
  bool types = false;
  std::optional<std::string> plot;
  std::string method;  ///< empty: chosen
  device_options device;
  std::optional<std::string> precision;
  std::optional<std::string> output;
  bool json = false;
  bool quiet = false;
};

}  // namespace quadrat::program
