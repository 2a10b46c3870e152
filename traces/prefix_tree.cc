#include "traces/prefix_tree.h"

#include <algorithm>
#include <limits>

namespace kvsim {
namespace {

int64_t Product(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product)
             ? std::numeric_limits<int64_t>::max()
             : product;
}

}  // namespace

PrefixHit PrefixTree::Add(const TraceRequest& row) {
  const int64_t whole = row.full_hash_blocks();
  PrefixHit hit;
  int64_t parent = -1 - static_cast<int64_t>(row.scope);
  for (int64_t i = 0; i < whole; ++i) {
    const uint64_t id = row.hash_ids[static_cast<size_t>(i)];
    const auto [it, is_new] = index_.try_emplace(
        std::pair(parent, id), static_cast<int64_t>(nodes_.size()));
    if (is_new) {
      Node added;
      added.parent = i == 0 ? -1 : parent;
      added.depth = i + 1;
      added.tokens = row.hash_block;
      added.end = (i + 1) * row.hash_block;
      added.scope = row.scope;
      added.id = id;
      nodes_.push_back(added);
    } else {
      ++hit.blocks;
      hit.last_row = nodes_[static_cast<size_t>(it->second)].last_row;
    }
    Node& node = nodes_[static_cast<size_t>(it->second)];
    ++node.rows;
    node.last_row = row.id;
    parent = it->second;
  }
  hit_blocks_ += hit.blocks;
  hit_tokens_ += hit.blocks * row.hash_block;
  return hit;
}

std::vector<int64_t> PrefixTree::CountChildren(
    PrefixTreeSummary* summary) const {
  std::vector<int64_t> children(nodes_.size());
  for (const Node& node : nodes_) {
    if (node.parent < 0) {
      ++summary->roots;
    } else {
      ++children[static_cast<size_t>(node.parent)];
    }
  }
  return children;
}

// A run ends where the number of rows changes: at a node whose rows go on in
// several ways or end. Only nodes of two rows save anything.
std::vector<HotPrefix> PrefixTree::HotPrefixes(
    const std::vector<int64_t>& children, size_t count) const {
  std::vector<bool> goes_on(nodes_.size());
  for (const Node& node : nodes_) {
    if (node.parent < 0) continue;
    const auto parent = static_cast<size_t>(node.parent);
    if (children[parent] == 1 && nodes_[parent].rows == node.rows) {
      goes_on[parent] = true;
    }
  }
  std::vector<HotPrefix> hot;
  std::vector<int64_t> run(nodes_.size());      // tokens of the run up to here
  for (size_t i = 0; i < nodes_.size(); ++i) {  // parents first
    const Node& node = nodes_[i];
    const auto parent = static_cast<size_t>(std::max<int64_t>(0, node.parent));
    run[i] =
        node.tokens + (node.parent >= 0 && goes_on[parent] ? run[parent] : 0);
    if (goes_on[i] || node.rows < 2) continue;
    hot.push_back({node.rows, node.end, run[i], Product(node.rows - 1, run[i]),
                   node.scope, node.id});
  }
  std::stable_sort(hot.begin(), hot.end(),
                   [](const HotPrefix& a, const HotPrefix& b) {
                     return a.saved_tokens > b.saved_tokens;
                   });
  if (hot.size() > count) hot.resize(count);
  return hot;
}

PrefixTreeSummary PrefixTree::Summary(size_t hot) const {
  PrefixTreeSummary summary;
  summary.nodes = static_cast<int64_t>(nodes_.size());
  summary.hit_blocks = hit_blocks_;
  summary.hit_tokens = hit_tokens_;
  const std::vector<int64_t> children = CountChildren(&summary);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].rows > 1) ++summary.shared_nodes;
    if (children[i] > 1) summary.children.push_back(children[i]);
    summary.max_children = std::max(summary.max_children, children[i]);
    summary.max_depth = std::max(summary.max_depth, nodes_[i].depth);
  }
  summary.branching_nodes = static_cast<int64_t>(summary.children.size());
  summary.hot = HotPrefixes(children, hot);
  return summary;
}

}  // namespace kvsim
