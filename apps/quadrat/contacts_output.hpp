// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/contacts/contact.hpp"
#include "quadrat/io/csv.hpp"
#include "quadrat/io/npy.hpp"

namespace quadrat::program {

/// Takes contacts in their order.
template <typename T>
class contact_output {
 public:
  virtual ~contact_output() = default;
  /// `features` is empty where all are 0.
  virtual void write(std::span<const contact<T>> records, std::span<const std::uint32_t> features) = 0;
  virtual void commit() = 0;
};

/// Records as they are in memory, and the feature behind each.
template <typename T>
class npy_contact_output final : public contact_output<T> {
  static constexpr std::size_t record_bytes = sizeof(contact<T>) + sizeof(std::uint32_t);
  static constexpr auto number = io::npy_type_of<T>;
  static constexpr std::array<io::npy_field, 9> fields{{{"point_a", number, 3},
                                                        {"point_b", number, 3},
                                                        {"normal", number, 3},
                                                        {"tangent_1", number, 3},
                                                        {"tangent_2", number, 3},
                                                        {"depth", number},
                                                        {"a", io::npy_type::uint32},
                                                        {"b", io::npy_type::uint32},
                                                        {"feature", io::npy_type::uint32}}};

 public:
  npy_contact_output(const std::string& file, std::size_t contacts) : out_(file, fields, contacts) {}
  void write(std::span<const contact<T>> records, std::span<const std::uint32_t> features) override {
    bytes_.resize(records.size() * record_bytes);
    for (std::size_t k = 0; k < records.size(); ++k) {
      const std::uint32_t feature = features.empty() ? 0 : features[k];
      std::byte* const at = bytes_.data() + k * record_bytes;
      std::memcpy(at, &records[k], sizeof(contact<T>));
      std::memcpy(at + sizeof(contact<T>), &feature, sizeof feature);
    }
    out_.write(bytes_);
  }
  void commit() override { out_.commit(); }

 private:
  io::npy_record_writer out_;
  std::vector<std::byte> bytes_;
};

template <typename T>
class csv_contact_output final : public contact_output<T> {
  static constexpr std::array<std::string_view, 19> names{"a",   "b",   "feature", "depth", "ax", "ay", "az",
                                                          "bx",  "by",  "bz",      "nx",    "ny", "nz", "t1x",
                                                          "t1y", "t1z", "t2x",     "t2y",   "t2z"};

 public:
  explicit csv_contact_output(const std::string& file) : out_(file, names) {}
  void write(std::span<const contact<T>> records, std::span<const std::uint32_t> features) override {
    for (std::size_t k = 0; k < records.size(); ++k) {
      const contact<T>& record = records[k];
      out_.add(record.a);
      out_.add(record.b);
      out_.add(features.empty() ? 0u : features[k]);
      out_.add(record.depth);
      for (const auto* v : {&record.point_a, &record.point_b, &record.normal, &record.tangent_1, &record.tangent_2}) {
        for (int axis = 0; axis < 3; ++axis) out_.add((*v)[axis]);
      }
      out_.end_row();
    }
  }
  void commit() override { out_.commit(); }

 private:
  io::csv_writer out_;
};

}  // namespace quadrat::program
