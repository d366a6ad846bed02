// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quadrat::io {

/// The contents of the header of an .npy file.
struct npy_header {
  std::string descr;  ///< byte order, kind and bytes of an element, such as "<f8"
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

/// Parses the header, a Python dictionary literal. Throws io_error that names the file.
[[nodiscard]] npy_header parse_npy_header(std::string_view text, const std::string& file);

}  // namespace quadrat::io
