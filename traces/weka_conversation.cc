#include "traces/weka_conversation.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "traces/json_fields.h"
#include "traces/trace_limits.h"

namespace kvsim {
namespace {

// Subagents that start subagents; deeper nesting is damage.
constexpr int kMaxDepth = 32;

constexpr char kAcceptedRequests[] = "a list of requests";
constexpr char kAcceptedTypes[] = "\"s\", \"n\" or \"subagent\"";

std::string Seconds(int64_t time_ns) {
  return absl::StrCat(FormatRatio(time_ns, 1'000'000'000, 3), " s");
}

class Parser {
 public:
  Parser(const TraceProblem& place, WekaConversation* conversation,
         ProblemGroups* problems)
      : place_(place), conversation_(conversation), problems_(problems) {}

  void ParseTop(simdjson::dom::object top) {
    std::vector<TraceProblem> found;
    JsonFields fields(top, place_, "", &found);
    conversation_->hash_block =
        fields.Integer("block_size", 1, kMaxHashBlock, kAcceptedHashBlock);
    CheckScope(fields);
    const std::optional<simdjson::dom::array> requests = Requests(fields);
    if (!found.empty()) {
      problems_->push_back(std::move(found));
      return;
    }
    Session session;
    session.number = conversation_->sessions++;
    ParseList(*requests, "", session, /*depth=*/0);
  }

 private:
  // One chain of turns while it is read.
  struct Session {
    int64_t number = 0;
    int64_t start_ns = 0;  // what `t` counts from
    int64_t turns = 0;
    int64_t previous = -1;  // index of the turn before; for a subagent's first
                            // turn one of its parent
    int64_t previous_arrival_ns = 0;
    int64_t previous_end_ns = 0;
    std::vector<uint64_t> ids;  // of the turn before in this session
  };

  static void CheckScope(JsonFields& fields) {
    const auto scope = fields.Find("hash_id_scope");
    std::string_view text;
    if (!scope.has_value() ||
        (scope->get_string().get(text) == simdjson::SUCCESS &&
         text == "local")) {
      return;
    }
    fields.AddProblem("hash_id_scope", Excerpt(simdjson::minify(*scope)),
                      "\"local\": ids that mean something in this file only");
  }

  static std::optional<simdjson::dom::array> Requests(JsonFields& fields) {
    const auto value = fields.Find("requests");
    simdjson::dom::array array;
    if (!value.has_value()) {
      fields.AddProblem("requests", "no value", kAcceptedRequests);
    } else if (value->get_array().get(array) != simdjson::SUCCESS) {
      fields.AddProblem("requests", Excerpt(simdjson::minify(*value)),
                        kAcceptedRequests);
    } else {
      return array;
    }
    return std::nullopt;
  }

  void ParseList(simdjson::dom::array requests, const std::string& prefix,
                 Session& session, int depth) {
    int64_t index = 0;
    for (const simdjson::dom::element entry : requests) {
      std::vector<TraceProblem> found;
      ParseEntry(entry, absl::StrCat(prefix, "requests[", index, "]"), session,
                 depth, &found);
      if (!found.empty()) problems_->push_back(std::move(found));
      ++index;
    }
  }

  void ParseEntry(simdjson::dom::element entry, const std::string& path,
                  Session& session, int depth,
                  std::vector<TraceProblem>* found) {
    simdjson::dom::object object;
    if (entry.get_object().get(object) != simdjson::SUCCESS) {
      TraceProblem problem = place_;
      problem.field = path;
      problem.found = Excerpt(simdjson::minify(entry));
      problem.accepted = "an object";
      found->push_back(std::move(problem));
      return;
    }
    JsonFields fields(object, place_, path + ".", found);
    std::string_view type;
    const auto value = fields.Find("type");
    if (!value.has_value() ||
        value->get_string().get(type) != simdjson::SUCCESS ||
        (type != "s" && type != "n" && type != "subagent")) {
      fields.AddProblem(
          "type",
          value.has_value() ? Excerpt(simdjson::minify(*value)) : "no value",
          kAcceptedTypes);
      return;
    }
    if (type == "subagent") {
      ParseSubagent(fields, path, session, depth, found);
    } else {
      ParseTurn(fields, session, found);
    }
  }

  void ParseSubagent(JsonFields& fields, const std::string& path,
                     const Session& parent, int depth,
                     std::vector<TraceProblem>* found) {
    Session session;
    session.start_ns = parent.start_ns + fields.Seconds("t");
    const std::optional<simdjson::dom::array> requests = Requests(fields);
    if (session.start_ns > kMaxTraceTimeNs) {
      fields.AddProblem("t", Seconds(session.start_ns),
                        "at most 2305843009 s, the outer start included");
    }
    if (depth == kMaxDepth) {
      fields.AddProblem("requests", "subagents inside subagents",
                        absl::StrCat("at most ", kMaxDepth, " levels"));
    }
    if (!found->empty()) return;
    session.number = conversation_->sessions++;
    session.previous_arrival_ns = session.start_ns;
    session.previous_end_ns = session.start_ns;
    if (parent.previous_arrival_ns <= session.start_ns) {
      session.previous = parent.previous;
      session.previous_end_ns = parent.previous_end_ns;
    }
    ParseList(*requests, path + ".", session, depth + 1);
  }

  void ParseTurn(JsonFields& fields, Session& session,
                 std::vector<TraceProblem>* found) {
    WekaTurn turn;
    turn.arrival_ns = session.start_ns + fields.Seconds("t");
    turn.input_length =
        fields.Integer("in", 1, kMaxTraceTokens, kAcceptedInputLength);
    turn.output_length =
        fields.Integer("out", 0, kMaxTraceTokens, kAcceptedOutputLength);
    std::vector<uint64_t> ids;
    fields.Ids("hash_ids", &ids);
    const int64_t api_time_ns = fields.OptionalSeconds("api_time").value_or(0);
    const std::optional<int64_t> think_time_ns =
        fields.OptionalSeconds("think_time");
    if (found->empty()) CheckTurn(fields, turn, session, ids);
    if (!found->empty()) return;
    // A session's first turn starts with its parent's clock, not its own.
    const bool recorded = think_time_ns.has_value() && session.turns > 0;
    const int64_t waited_ns =
        std::max<int64_t>(0, turn.arrival_ns - session.previous_end_ns);
    turn.think_time_ns = session.previous < 0 ? 0
                         : recorded           ? *think_time_ns
                                              : waited_ns;
    turn.session = session.number;
    turn.turn = session.turns++;
    turn.previous = session.previous;
    turn.shared_ids = std::mismatch(ids.begin(), ids.end(), session.ids.begin(),
                                    session.ids.end())
                          .first -
                      ids.begin();
    turn.new_ids.assign(ids.begin() + turn.shared_ids, ids.end());
    session.ids = std::move(ids);
    session.previous = static_cast<int64_t>(conversation_->turns.size());
    session.previous_arrival_ns = turn.arrival_ns;
    session.previous_end_ns = turn.arrival_ns + api_time_ns;
    conversation_->turns.push_back(std::move(turn));
  }

  void CheckTurn(JsonFields& fields, const WekaTurn& turn,
                 const Session& session, const std::vector<uint64_t>& ids) {
    const int64_t expected = turn.input_length / conversation_->hash_block;
    if (static_cast<int64_t>(ids.size()) != expected) {
      fields.AddProblem(
          "hash_ids", absl::StrCat(ids.size(), " ids"),
          absl::StrCat(expected, " ids: one per full block of ",
                       conversation_->hash_block, " tokens of the ",
                       turn.input_length, " in `in`"));
    }
    if (turn.arrival_ns < session.previous_arrival_ns) {
      fields.AddProblem("t", Seconds(turn.arrival_ns),
                        absl::StrCat("at least the turn before it, ",
                                     Seconds(session.previous_arrival_ns)));
    }
    if (turn.arrival_ns > kMaxTraceTimeNs) {
      fields.AddProblem("t", Seconds(turn.arrival_ns),
                        "at most 2305843009 s, the subagent's start included");
    }
  }

  TraceProblem place_;
  WekaConversation* conversation_;
  ProblemGroups* problems_;
};

}  // namespace

WekaConversation ParseWekaConversation(const std::string& text,
                                       const TraceProblem& place,
                                       ProblemGroups* problems) {
  WekaConversation conversation;
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  const auto error = parser.parse(text.data(), text.size()).get(document);
  if (error != simdjson::SUCCESS) {
    problems->push_back({DescribeJsonError(text, error, place)});
    return conversation;
  }
  simdjson::dom::object top;
  if (document.get_object().get(top) != simdjson::SUCCESS) {
    TraceProblem problem = place;
    problem.found = Excerpt(text);
    problem.accepted = "one JSON object, a conversation";
    problems->push_back({problem});
    return conversation;
  }
  Parser(place, &conversation, problems).ParseTop(top);
  return conversation;
}

}  // namespace kvsim
