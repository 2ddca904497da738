#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plimsoll/agent/permit.h"

namespace plimsoll::internal {

// Names a call, or the end of a list of calls.
using CallIndex = std::uint32_t;
inline constexpr CallIndex kNoCall = ~CallIndex{0};

// One call on its way: at the dependency, or waiting to be tried again.
struct LoadCall {
  std::int64_t first_arrival = 0;  // ns, true time
  std::int64_t admitted = 0;
  double work = 0;           // s of one server
  CallIndex next = kNoCall;  // in whatever list it is
  int replica = 0;
  int process = 0;  // which admitted it
  int attempt = 0;
  std::optional<Permit> permit;  // none under a static limit, or if nothing admitted it yet
};

// All calls of a run. What is freed is used again, so in the steady state nothing is allocated.
// Thread-compatible.
class CallPool {
 public:
  CallIndex Make() {
    if (free_ == kNoCall) {
      calls_.emplace_back();
      return static_cast<CallIndex>(calls_.size() - 1);
    }
    const CallIndex made = free_;
    free_ = calls_[made].next;
    calls_[made].next = kNoCall;
    return made;
  }
  void Free(CallIndex call) {
    calls_[call].permit.reset();
    calls_[call].next = free_;
    free_ = call;
  }
  LoadCall& operator[](CallIndex call) { return calls_[call]; }

  // For the end of a run: the permits of calls that run on.
  void IgnoreAll() {
    for (LoadCall& call : calls_) {
      if (call.permit) call.permit->Ignore();
    }
  }

 private:
  std::vector<LoadCall> calls_;
  CallIndex free_ = kNoCall;
};

// Calls in the order in which they came.
class CallList {
 public:
  bool empty() const { return first_ == kNoCall; }
  void PushBack(CallIndex call, CallPool& calls) {
    (empty() ? first_ : calls[last_].next) = call;
    calls[call].next = kNoCall;
    last_ = call;
  }
  CallIndex PopFront(CallPool& calls) {
    const CallIndex call = first_;
    first_ = calls[call].next;
    return call;
  }

 private:
  CallIndex first_ = kNoCall;
  CallIndex last_ = kNoCall;
};

// What happens to calls.
enum class CallEventKind : std::uint32_t {
  kRetry,       // a refused call is tried again
  kEnter,       // its delay is over: it is in front of the servers
  kServed,      // a FIFO server has done with it
  kSharedDone,  // `index` is a station: the call with the least work left may be done
};

struct CallEvent {
  std::int64_t at = 0;  // ns, true time
  std::uint32_t index = 0;
  CallEventKind kind = CallEventKind::kRetry;
};

// The events of calls by time. A heap of four children each: flat, so it touches fewer lines of
// memory than the usual two. Which of two events of the same nanosecond comes first depends on
// nothing but what was pushed before, so runs repeat. Thread-compatible.
class CallEvents {
 public:
  bool empty() const { return heap_.empty(); }
  const CallEvent& top() const { return heap_.front(); }

  void Push(const CallEvent& event) {
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (heap_[parent].at <= event.at) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  CallEvent Pop() {
    const CallEvent earliest = heap_.front();
    const CallEvent last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) SiftDown(last);
    return earliest;
  }

 private:
  static constexpr std::size_t kChildren = 4;

  void SiftDown(const CallEvent& event) {
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = kChildren * hole + 1) {
      std::size_t least = child;
      const std::size_t end = std::min(child + kChildren, size);
      for (std::size_t other = child + 1; other < end; ++other) {
        if (heap_[other].at < heap_[least].at) least = other;
      }
      if (heap_[least].at >= event.at) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = event;
  }

  std::vector<CallEvent> heap_;
};

}  // namespace plimsoll::internal
