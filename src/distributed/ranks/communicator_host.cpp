// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/communicator.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "quadrat/core/array.hpp"

namespace quadrat {

rank_error::rank_error(int rank, const std::string& words) : error(message("rank ", rank, ": ", words)), rank_(rank) {}

void communicator::count(std::span<const outgoing_message> sends) {
  for (const outgoing_message& one : sends) {
    if (one.to != rank()) bytes_sent_ += one.bytes;
  }
}

void communicator::start(const cuda_context& context, std::span<const outgoing_message> sends,
                         std::span<const incoming_message> receives) {
  std::size_t out = 0, in = 0;
  for (const outgoing_message& one : sends) out += one.bytes;
  for (const incoming_message& one : receives) in += one.bytes;
  staged_out_.resize(out);
  staged_in_.resize(in);
  staged_.assign(receives.begin(), receives.end());

  std::vector<outgoing_message> host_sends(sends.begin(), sends.end());
  std::vector<incoming_message> host_receives(receives.begin(), receives.end());
  std::byte* place = staged_out_.data();
  for (outgoing_message& one : host_sends) {
    copy_bytes(context, one.data, place, one.bytes);
    one.data = place;
    place += one.bytes;
  }
  context.synchronize();
  place = staged_in_.data();
  for (incoming_message& one : host_receives) {
    one.data = place;
    place += one.bytes;
  }
  start(cpu_context(), host_sends, host_receives);
}

void communicator::finish(const cuda_context& context) {
  finish(cpu_context());
  const std::byte* place = staged_in_.data();
  for (const incoming_message& one : staged_) {
    copy_bytes(context, place, one.data, one.bytes);
    place += one.bytes;
  }
  // The next exchange reuses the staging memory.
  context.synchronize();
}

namespace {

/// Delivers messages to oneself: the k-th sent is the k-th received.
template <typename Context>
void copy_to_self(const Context& context, std::span<const outgoing_message> sends,
                  std::span<const incoming_message> receives) {
  require(sends.size() == receives.size(), "a rank alone sends ", sends.size(), " messages, but receives ",
          receives.size());
  for (std::size_t k = 0; k < sends.size(); ++k) {
    require(sends[k].to == 0 && receives[k].from == 0, "a message is for rank ", sends[k].to, " or from rank ",
            receives[k].from, "; the only rank is 0");
    require(sends[k].bytes == receives[k].bytes, "a message has ", sends[k].bytes, " bytes, but ", receives[k].bytes,
            " are expected");
    copy_bytes(context, sends[k].data, receives[k].data, sends[k].bytes);
  }
}

}  // namespace

void self_communicator::all_gather(const void* mine, void* all, std::size_t bytes) {
  if (bytes > 0 && mine != all) std::memcpy(all, mine, bytes);
}

void self_communicator::start(const cpu_context& context, std::span<const outgoing_message> sends,
                              std::span<const incoming_message> receives) {
  copy_to_self(context, sends, receives);
}

void self_communicator::start(const cuda_context& context, std::span<const outgoing_message> sends,
                              std::span<const incoming_message> receives) {
  copy_to_self(context, sends, receives);
}

double sum_in_rank_order(communicator& ranks, double mine) {
  double sum = 0;
  for (const double one : all_values(ranks, mine)) sum += one;
  return sum;
}

namespace {

enum class problem_kind : std::uint32_t { none, argument, data, overflow, backend, io, memory, other };

/// An exception in a form that can be sent to other ranks. Long messages are cut.
struct problem_record {
  problem_kind kind = problem_kind::none;
  std::uint32_t has_index = 0;
  std::uint64_t number = 0;  ///< data_error::index, overflow_error::needed, or the bytes requested
  char words[480] = {};
};

void set_words(problem_record& record, problem_kind kind, const char* words) {
  record.kind = kind;
  std::strncpy(record.words, words, sizeof(record.words) - 1);
}

[[nodiscard]] problem_record recorded(const std::exception_ptr& problem) {
  problem_record record;
  if (problem == nullptr) return record;
  try {
    std::rethrow_exception(problem);
  } catch (const argument_error& one) {
    set_words(record, problem_kind::argument, one.what());
  } catch (const data_error& one) {
    set_words(record, problem_kind::data, one.what());
    record.has_index = one.index().has_value() ? 1 : 0;
    record.number = one.index().value_or(0);
  } catch (const overflow_error& one) {
    set_words(record, problem_kind::overflow, one.what());
    record.number = one.needed();
  } catch (const backend_error& one) {
    set_words(record, problem_kind::backend, one.what());
  } catch (const io_error& one) {
    set_words(record, problem_kind::io, one.what());
  } catch (const std::bad_alloc& one) {
    set_words(record, problem_kind::memory, one.what());
  } catch (const std::exception& one) {
    set_words(record, problem_kind::other, one.what());
  } catch (...) {
    set_words(record, problem_kind::other, "an exception without words");
  }
  return record;
}

[[noreturn]] void throw_recorded(int rank, const problem_record& record) {
  switch (record.kind) {
    case problem_kind::argument:
      throw argument_error(record.words);
    case problem_kind::data:
      if (record.has_index != 0) throw data_error(record.words, record.number);
      throw data_error(record.words);
    case problem_kind::overflow:
      throw overflow_error(record.words, record.number);
    case problem_kind::backend:
      throw backend_error(message("rank ", rank, ": ", record.words));
    case problem_kind::io:
      throw io_error(message("rank ", rank, ": ", record.words));
    default:
      throw rank_error(rank, record.words);
  }
}

}  // namespace

void agree(communicator& ranks, const std::exception_ptr& problem) {
  const auto states = all_values(ranks, problem == nullptr ? problem_kind::none : problem_kind::other);
  ranks.agreed_to_fail_ = std::any_of(states.begin(), states.end(), [](auto one) { return one != problem_kind::none; });
  if (!ranks.agreed_to_fail_) return;
  const auto records = all_values(ranks, recorded(problem));
  int chosen = -1;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const problem_record& one = records[static_cast<std::size_t>(rank)];
    if (one.kind == problem_kind::none) continue;
    if (chosen < 0) chosen = rank;
    const problem_record& best = records[static_cast<std::size_t>(chosen)];
    const bool both_indexed = one.has_index != 0 && best.has_index != 0;
    if (both_indexed && one.number < best.number) chosen = rank;
  }
  if (chosen == ranks.rank()) std::rethrow_exception(problem);
  throw_recorded(chosen, records[static_cast<std::size_t>(chosen)]);
}

}  // namespace quadrat
