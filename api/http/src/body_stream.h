#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace plimsoll::internal {

// The body of an answer that goes on: pieces are written as they come, until the producer ends it
// or the reader goes away. Pieces are shared, so that one encoding serves many streams.
// Shared by the connection, which writes, and the producer. Confined to the listener's thread.
class BodyStream {
 public:
  using Piece = std::shared_ptr<const std::string>;

  // The producer's side.
  void Push(Piece piece) {
    if (ended_) return;
    waiting_.push_back(std::move(piece));
    Wake();
  }
  // Pieces that the connection has not begun to write.
  std::size_t waiting() const { return waiting_.size(); }
  // After what waits.
  void End() {
    ended_ = true;
    Wake();
  }
  // At once, and without what waits: the reader is too slow.
  void Break() {
    broken_ = ended_ = true;
    waiting_.clear();
    Wake();
  }
  // `closed` is called once, when the connection is done with the stream, with whether the reader
  // took too long for a piece. It may be called from within Push() and End().
  void OnClosed(std::function<void(bool slow)> closed) { closed_ = std::move(closed); }

  // The connection's side.
  void OnChange(std::function<void()> wake) { wake_ = std::move(wake); }
  std::vector<Piece> Take() {
    std::vector<Piece> pieces(waiting_.begin(), waiting_.end());
    waiting_.clear();
    return pieces;
  }
  bool ended() const { return ended_; }
  bool broken() const { return broken_; }
  void Close(bool slow) {
    wake_ = nullptr;
    ended_ = true;
    if (closed_) std::exchange(closed_, nullptr)(slow);
  }

 private:
  void Wake() {
    if (wake_) wake_();
  }

  std::deque<Piece> waiting_;
  bool ended_ = false;
  bool broken_ = false;
  std::function<void()> wake_;
  std::function<void(bool slow)> closed_;
};

}  // namespace plimsoll::internal
