// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"

/// Ranks that share the work: processes under MPI, or threads of one process, each with a context of its own.
namespace quadrat {

/// Bytes for another rank (or for the sender itself).
struct outgoing_message {
  int to;
  const void* data;
  std::size_t bytes;
};

/// Room for a message of another rank. Its size must equal that of the sender.
struct incoming_message {
  int from;
  void* data;
  std::size_t bytes;
};

/// A file into which all ranks write, each to ranges of its own.
class shared_file {
 public:
  virtual ~shared_file() = default;
  /// Writes at an offset. Not collective: each rank calls it any number of times. Throws io_error.
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// Waits until what this rank has written is on disk. Collective. Throws io_error.
  virtual void flush() = 0;
};

/// One rank failed, and all others stop with it. Names that rank.
class rank_error : public error {
 public:
  rank_error(int rank, const std::string& words);
  [[nodiscard]] int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

/// One rank's view of a group of ranks, numbered from 0. Every function that is not const is collective: all ranks call
/// the same functions in the same order. Only one thread at a time may use a communicator. When a rank fails or dies,
/// the calls of the other ranks throw rank_error or end the process; none waits forever.
///
/// Messages between two ranks arrive in the order in which both ranks list them. Messages of zero bytes must not be
/// listed. Until `finish`, buffers must not be touched, and no second exchange may be started.
class communicator {
 public:
  virtual ~communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// "self", "threads", "mpi", "nccl".
  [[nodiscard]] virtual std::string name() const = 0;

  virtual void barrier() = 0;
  /// all[r] = the `bytes` bytes at `mine` on rank r. The number of bytes is the same on every rank. Host memory.
  virtual void all_gather(const void* mine, void* all, std::size_t bytes) = 0;
  /// Piece p of what this rank sends goes to rank p; piece p of `received` comes from rank p. A piece has `bytes`
  /// bytes. Host memory.
  virtual void all_to_all(const void* sent, void* received, std::size_t bytes) = 0;
  /// Replaces values[i] by its sum over all ranks, modulo 2^64. Host memory.
  virtual void add_up(std::uint64_t* values, std::size_t count) = 0;

  /// Starts to exchange messages in memory of the context's device. On CUDA it is ordered with the context's stream:
  /// messages hold the results of the work before, and `finish` must come before the work that reads what was received.
  virtual void start(const cpu_context& context, std::span<const outgoing_message> sends,
                     std::span<const incoming_message> receives) = 0;
  /// By default staged through host memory, and then it waits for the device.
  virtual void start(const cuda_context& context, std::span<const outgoing_message> sends,
                     std::span<const incoming_message> receives);
  /// Ends the exchange: later work may read what was received and overwrite what was sent.
  virtual void finish(const cpu_context& context) = 0;
  virtual void finish(const cuda_context& context);

  /// Opens an existing file for writing by all ranks; under MPI by MPI's file functions. Destroying it is collective,
  /// too. All ranks must see the same file system. `name`: the file in errors. Throws io_error on ranks that cannot
  /// open it.
  [[nodiscard]] virtual std::unique_ptr<shared_file> open_shared(const std::string& path, const std::string& name);

  template <typename Context>
  void exchange(const Context& context, std::span<const outgoing_message> sends,
                std::span<const incoming_message> receives) {
    start(context, sends, receives);
    finish(context);
  }

  /// Bytes that this rank has sent to others in exchanges.
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }
  /// Whether the last `agree` threw; then it threw on all ranks.
  [[nodiscard]] bool agreed_to_fail() const { return agreed_to_fail_; }

 protected:
  /// To be called by `start`.
  void count(std::span<const outgoing_message> sends);

 private:
  std::vector<std::byte> staged_out_, staged_in_;
  std::vector<incoming_message> staged_;
  friend void agree(communicator&, const std::exception_ptr&);

  std::uint64_t bytes_sent_ = 0;
  bool agreed_to_fail_ = false;
};

/// A group of one rank.
class self_communicator final : public communicator {
 public:
  using communicator::finish;
  using communicator::start;

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] std::string name() const override { return "self"; }
  void barrier() override {}
  void all_gather(const void* mine, void* all, std::size_t bytes) override;
  void all_to_all(const void* sent, void* received, std::size_t bytes) override { all_gather(sent, received, bytes); }
  void add_up(std::uint64_t*, std::size_t) override {}
  void start(const cpu_context& context, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override;
  void start(const cuda_context& context, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override;
  void finish(const cpu_context&) override {}
  void finish(const cuda_context&) override {}
};

/// The values of all ranks, by rank. Collective.
template <typename T>
[[nodiscard]] std::vector<T> all_values(communicator& ranks, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<std::size_t>(ranks.size()), mine);
  ranks.all_gather(&mine, all.data(), sizeof(T));
  return all;
}

/// The sum over ranks, taken in order of rank: the same bits on every rank and in every run. Collective.
[[nodiscard]] double sum_in_rank_order(communicator& ranks, double mine);

/// Throws on every rank if `problem` is set on any. The error thrown is that of the rank with the smallest
/// data_error::index, or else of the smallest rank. That rank rethrows its own exception. The others throw one of the
/// same type with the same message; for types that are not of this library they throw rank_error, which names the rank.
/// Collective.
void agree(communicator& ranks, const std::exception_ptr& problem);

/// Calls f(), which may throw on any rank but must not communicate, then `agree`. Collective.
template <typename F>
void together(communicator& ranks, F&& f) {
  std::exception_ptr problem;
  try {
    std::forward<F>(f)();
  } catch (...) {
    problem = std::current_exception();
  }
  agree(ranks, problem);
}

}  // namespace quadrat
