#include "traces/kv_event_rows.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/hash_name.h"
#include "traces/json_fields.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

constexpr int64_t kMaxPauseNs = 10'000'000'000;

using Element = std::optional<simdjson::dom::element>;

std::string TextOf(const Element& value) {
  return value.has_value() ? Excerpt(simdjson::minify(*value)) : "no value";
}

TraceProblem Problem(const TraceProblem& place, std::string field,
                     std::string found, absl::string_view accepted) {
  TraceProblem problem = place;
  problem.field = std::move(field);
  problem.found = std::move(found);
  problem.accepted = std::string(accepted);
  return problem;
}

bool IsText(const Element& value, std::string_view text) {
  std::string_view found;
  return value.has_value() &&
         value->get_string().get(found) == simdjson::SUCCESS && found == text;
}

std::optional<int64_t> ToTime(const Element& value) {
  double seconds = 0;
  if (!value.has_value() ||
      value->get_double().get(seconds) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  const double us = std::nearbyint(seconds * 1e6);
  if (!(us >= 0) || us > static_cast<double>(kMaxTraceTimeNs / 1000)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(us) * 1000;
}

}  // namespace

// The fields of an event, from either of its forms.
struct KvEventRows::Event {
  // Their places in the list form.
  enum Index {
    kType,
    kHashes,
    kParent,
    kTokens,
    kBlockSize,
    kLora,
    kMedium,
    kLoraName,
    kExtraKeys,
    kGroup,
    kFields
  };

  std::string path;
  Element fields[kFields];

  // False when `value` is neither an object nor a list.
  bool Read(simdjson::dom::element value) {
    constexpr const char* kNames[kFields] = {
        "type",      "block_hashes", "parent_block_hash",
        "token_ids", "block_size",   "lora_id",
        "medium",    "lora_name",    "extra_keys",
        "group_idx"};
    simdjson::dom::object object;
    simdjson::dom::array array;
    if (value.get_object().get(object) == simdjson::SUCCESS) {
      for (int i = 0; i < kFields; ++i) {
        simdjson::dom::element field;
        if (object.at_key(kNames[i]).get(field) == simdjson::SUCCESS) {
          Set(i, field);
        }
      }
      return true;
    }
    if (value.get_array().get(array) != simdjson::SUCCESS) return false;
    int i = 0;
    for (const simdjson::dom::element field : array) {
      if (i < kFields) Set(i++, field);
    }
    return true;
  }

  void Set(int index, simdjson::dom::element value) {
    if (!value.is_null()) fields[index] = value;
  }

  // Another medium than the GPU, or another group than the first.
  bool IsElsewhere() const {
    int64_t group = 0;
    return (fields[kMedium].has_value() && !IsText(fields[kMedium], "GPU")) ||
           (fields[kGroup].has_value() &&
            (fields[kGroup]->get_int64().get(group) != simdjson::SUCCESS ||
             group != 0));
  }

  std::optional<uint64_t> Parent() const {
    return fields[kParent].has_value() ? HashId(*fields[kParent])
                                       : std::nullopt;
  }

  int64_t BlockSize() const {
    int64_t size = 0;
    if (!fields[kBlockSize].has_value() ||
        fields[kBlockSize]->get_int64().get(size) != simdjson::SUCCESS ||
        size < 1 || size > kMaxHashBlock) {
      return 0;
    }
    return size;
  }
};

RowDecoder::Outcome KvEventRows::Decode(absl::string_view line,
                                        const TraceProblem& place, DecodedRow*,
                                        std::vector<TraceProblem>* problems) {
  const Element batch = parser_.ParseValue(line, place, problems);
  if (!batch.has_value()) return Outcome::kNoRequest;
  Element time;
  Element events;
  simdjson::dom::array list;
  simdjson::dom::object object;
  if (batch->get_array().get(list) == simdjson::SUCCESS) {
    int index = 0;
    for (const simdjson::dom::element value : list) {
      if (index == 0) time = value;
      if (index == 1) events = value;
      ++index;
    }
  } else if (batch->get_object().get(object) == simdjson::SUCCESS) {
    JsonFields fields(object, place, "", problems);
    time = fields.Find(fields.OneOf({"ts", "timestamp"}));
    events = fields.Find("events");
  }
  const std::optional<int64_t> time_ns = ToTime(time);
  if (!time_ns.has_value()) {
    problems->push_back(Problem(place, "ts", TextOf(time),
                                "a number of seconds from 0 to 2305843009"));
  }
  if (!events.has_value() ||
      events->get_array().get(list) != simdjson::SUCCESS) {
    problems->push_back(
        Problem(place, "events", TextOf(events), "a list of events"));
  }
  if (problems->empty()) ReadEvents(list, *time_ns, place, problems);
  return Outcome::kNoRequest;
}

void KvEventRows::ReadEvents(simdjson::dom::array events, int64_t time_ns,
                             const TraceProblem& place,
                             std::vector<TraceProblem>* problems) {
  size_t index = 0;
  for (const simdjson::dom::element value : events) {
    Event event;
    event.path = absl::StrCat("events[", index++, "]");
    if (!event.Read(value) || !event.fields[Event::kType].has_value()) {
      problems->push_back(Problem(place, event.path,
                                  Excerpt(simdjson::minify(value)),
                                  "an object with a `type`, or a list that "
                                  "begins with it"));
      continue;
    }
    if (IsText(event.fields[Event::kType], "BlockStored") &&
        !event.IsElsewhere()) {
      Store(event, time_ns, place, problems);
    }
  }
}

// The request that the event's blocks belong to; nothing when its parent was
// never stored.
std::optional<size_t> KvEventRows::ChainFor(const Event& event,
                                            int64_t time_ns) {
  Chain begun;
  begun.first_ns = time_ns;
  begun.block_size = event.BlockSize();
  if (event.fields[Event::kParent].has_value()) {
    const auto it = blocks_.find(*event.Parent());
    if (it == blocks_.end()) return std::nullopt;
    const Chain& parent = chains_[it->second.chain];
    if (parent.block_size != begun.block_size) return std::nullopt;
    const bool is_last = it->second.index + 1 == parent.ids.size();
    if (is_last && time_ns - parent.last_ns <= kMaxPauseNs) {
      return it->second.chain;
    }
    begun.ids.assign(parent.ids.begin(),
                     parent.ids.begin() + it->second.index + 1);
  }
  chains_.push_back(std::move(begun));
  return chains_.size() - 1;
}

void KvEventRows::Store(const Event& event, int64_t time_ns,
                        const TraceProblem& place,
                        std::vector<TraceProblem>* problems) {
  const size_t before = problems->size();
  const Element& hashes = event.fields[Event::kHashes];
  const Element& parent = event.fields[Event::kParent];
  const auto add = [&](const char* field, const Element& found,
                       absl::string_view accepted) {
    problems->push_back(Problem(place, absl::StrCat(event.path, ".", field),
                                TextOf(found), accepted));
  };
  std::vector<uint64_t> ids;
  simdjson::dom::array list;
  if (!hashes.has_value() ||
      hashes->get_array().get(list) != simdjson::SUCCESS) {
    add("block_hashes", hashes, "a list of hashes");
  } else {
    for (const simdjson::dom::element value : list) {
      const std::optional<uint64_t> id = HashId(value);
      if (!id.has_value()) add("block_hashes", value, kAcceptedHashName);
      ids.push_back(id.value_or(0));
    }
  }
  if (parent.has_value() && !event.Parent().has_value()) {
    add("parent_block_hash", parent, kAcceptedHashName);
  }
  if (event.BlockSize() == 0) {
    add("block_size", event.fields[Event::kBlockSize], kAcceptedHashBlock);
  }
  if (problems->size() > before || ids.empty()) return;
  const std::optional<size_t> chain = ChainFor(event, time_ns);
  if (!chain.has_value()) {
    add("parent_block_hash", parent,
        "a hash that an event before it stored, in blocks of the same size: "
        "the capture must begin before the first request");
    return;
  }
  chains_[*chain].last_ns = time_ns;
  for (const uint64_t id : ids) {
    blocks_[id] = {*chain, chains_[*chain].ids.size()};
    chains_[*chain].ids.push_back(id);
  }
}

void KvEventRows::Finish(std::vector<DecodedRow>* rows) {
  for (Chain& chain : chains_) {
    DecodedRow row;
    row.request.arrival_ns = chain.first_ns;
    row.request.hash_block = chain.block_size;
    row.request.input_length =
        static_cast<int64_t>(chain.ids.size()) * chain.block_size;
    row.request.hash_ids = std::move(chain.ids);
    rows->push_back(std::move(row));
  }
  chains_.clear();
}

}  // namespace kvsim
