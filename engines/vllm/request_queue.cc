#include "engines/vllm/request_queue.h"

#include <algorithm>
#include <tuple>

namespace kvsim::vllm {

bool ServedBefore::operator()(const Request* a, const Request* b) const {
  return std::tie(a->priority, a->arrival_ns, a->id_text) <
         std::tie(b->priority, b->arrival_ns, b->id_text);
}

Request* RequestQueue::Peek() const {
  return policy_ == SchedulingPolicy::kFcfs ? fifo_.front() : *ordered_.begin();
}

void RequestQueue::PopFront() {
  if (policy_ == SchedulingPolicy::kFcfs) {
    fifo_.pop_front();
  } else {
    ordered_.erase(ordered_.begin());
  }
}

void RequestQueue::PushBack(Request* request) {
  if (policy_ == SchedulingPolicy::kFcfs) {
    fifo_.push_back(request);
  } else {
    ordered_.insert(request);
  }
}

void RequestQueue::PushFront(Request* request) {
  if (policy_ == SchedulingPolicy::kFcfs) {
    fifo_.push_front(request);
  } else {
    ordered_.insert(request);
  }
}

bool RequestQueue::Remove(Request* request) {
  if (policy_ == SchedulingPolicy::kPriority)
    return ordered_.erase(request) > 0;
  const auto it = std::find(fifo_.begin(), fifo_.end(), request);
  if (it == fifo_.end()) return false;
  fifo_.erase(it);
  return true;
}

}  // namespace kvsim::vllm
