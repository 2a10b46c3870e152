// Requests waiting for admission, first come first served or by priority.
//
// Model:      FCFS is a double-ended queue: arrivals go to the back, preempted
//             requests to the front. By priority it is an ordered set on
//             (priority, arrival, request id as a string); front and back are the
//             same thing then.
// Costs:      FCFS O(1) at both ends, Remove O(n); priority O(log n).
// Ownership:  none; requests outlive their stay.
// Source:     vllm/v1/core/sched/request_queue.py.
#ifndef KVSIM_ENGINES_VLLM_REQUEST_QUEUE_H_
#define KVSIM_ENGINES_VLLM_REQUEST_QUEUE_H_

#include <cstddef>
#include <deque>
#include <set>

#include "engines/vllm/request.h"
#include "engines/vllm/settings.h"

namespace kvsim::vllm {

// The engine's order of two requests under the priority policy.
struct ServedBefore {
  bool operator()(const Request* a, const Request* b) const;
};

class RequestQueue {
 public:
  explicit RequestQueue(SchedulingPolicy policy) : policy_(policy) {}

  bool empty() const { return fifo_.empty() && ordered_.empty(); }
  size_t size() const { return fifo_.size() + ordered_.size(); }
  // REQUIRES: !empty().
  Request* Peek() const;
  void PopFront();
  void PushBack(Request* request);
  void PushFront(Request* request);
  // True if the request was there.
  bool Remove(Request* request);

 private:
  const SchedulingPolicy policy_;
  std::deque<Request*> fifo_;
  std::set<Request*, ServedBefore> ordered_;
};

}  // namespace kvsim::vllm

#endif  // KVSIM_ENGINES_VLLM_REQUEST_QUEUE_H_
