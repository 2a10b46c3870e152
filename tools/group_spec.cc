#include "tools/group_spec.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace kvsim {
namespace {

using vllm::CacheGroup;
using vllm::GroupKind;

constexpr int64_t kMostAlike = 256;

absl::Status BadGroup(absl::string_view text, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("--groups: '", text, "': ", reason));
}

struct KindName {
  absl::string_view name;
  GroupKind kind;
  int64_t CacheGroup::*tokens;  // what TOKENS means; null: nothing
};
constexpr KindName kKinds[] = {
    {"full", GroupKind::kFull, nullptr},
    {"swa", GroupKind::kSlidingWindow, &CacheGroup::window},
    {"chunked", GroupKind::kChunkedLocal, &CacheGroup::chunk},
    {"mamba", GroupKind::kRecurrent, nullptr},
    {"cross", GroupKind::kCross, &CacheGroup::encoder_tokens},
};

// Cuts what follows `mark` off *text.
std::optional<std::string> CutBehind(char mark, std::string* text) {
  const size_t at = text->find(mark);
  if (at == std::string::npos) return std::nullopt;
  std::string behind = text->substr(at + 1);
  text->resize(at);
  return behind;
}

// Reads a positive count; leaves *out alone when there is no text.
absl::Status ReadPart(absl::string_view group,
                      const std::optional<std::string>& text,
                      absl::string_view what, int64_t* out) {
  if (!text.has_value()) return absl::OkStatus();
  const absl::StatusOr<Tokens> tokens = ParseTokens(*text);
  if (!tokens.ok() || *tokens < Tokens(1)) {
    return BadGroup(group, absl::StrCat(what, " '", *text,
                                        "': accepted: a positive number"));
  }
  *out = tokens->value();
  return absl::OkStatus();
}

absl::StatusOr<const KindName*> FindKind(absl::string_view group,
                                         absl::string_view name) {
  for (const KindName& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return BadGroup(group,
                  "accepted: full, swa:WINDOW, chunked:CHUNK, mamba, "
                  "cross:TOKENS, each with /BLOCK and *COUNT");
}

// One group and how many are like it.
absl::StatusOr<CacheGroup> ParseGroup(const std::string& text, StateMode mode,
                                      const vllm::Settings& settings,
                                      int64_t* count) {
  std::string rest = text;
  const std::optional<std::string> copies = CutBehind('*', &rest);
  const std::optional<std::string> block = CutBehind('/', &rest);
  const std::optional<std::string> tokens = CutBehind(':', &rest);
  const absl::StatusOr<const KindName*> kind = FindKind(text, rest);
  if (!kind.ok()) return kind.status();
  if (tokens.has_value() != ((*kind)->tokens != nullptr)) {
    return BadGroup(
        text, tokens.has_value() ? "takes no ':TOKENS'" : "needs ':TOKENS'");
  }
  CacheGroup group;
  group.kind = (*kind)->kind;
  group.state_mode = mode;
  const bool one_state =
      group.kind == GroupKind::kRecurrent && mode == StateMode::kNone;
  group.block_tokens = one_state ? settings.max_model_len : settings.block_size;
  absl::Status status = ReadPart(text, block, "block", &group.block_tokens);
  if ((*kind)->tokens != nullptr) {
    status.Update(ReadPart(text, tokens, "tokens", &(group.*(*kind)->tokens)));
  }
  status.Update(ReadPart(text, copies, "count", count));
  if (status.ok() && *count > kMostAlike) {
    status = BadGroup(text, absl::StrCat("at most ", kMostAlike, " are alike"));
  }
  if (!status.ok()) return status;
  return group;
}

}  // namespace

absl::StatusOr<std::vector<CacheGroup>> ParseGroups(
    absl::string_view text, StateMode mode, const vllm::Settings& settings) {
  if (!settings.enable_prefix_caching) mode = StateMode::kNone;
  std::vector<CacheGroup> groups;
  for (const absl::string_view part :
       absl::StrSplit(text, absl::ByAnyChar(";+"))) {
    int64_t count = 1;
    const absl::StatusOr<CacheGroup> group =
        ParseGroup(std::string(part), mode, settings, &count);
    if (!group.ok()) return group.status();
    groups.insert(groups.end(), static_cast<size_t>(count), *group);
  }
  return groups;
}

std::string GroupsInWords(const std::vector<CacheGroup>& groups) {
  std::string words;
  for (size_t i = 0; i < groups.size();) {
    size_t end = i + 1;
    while (end < groups.size() && groups[end].SameRule(groups[i])) ++end;
    const CacheGroup& group = groups[i];
    absl::StrAppend(&words, words.empty() ? "" : ";",
                    vllm::GroupKindName(group.kind));
    const int64_t tokens = group.window + group.chunk + group.encoder_tokens;
    if (tokens > 0) absl::StrAppend(&words, ":", tokens);
    absl::StrAppend(&words, "/", group.block_tokens);
    if (end - i > 1) absl::StrAppend(&words, "*", end - i);
    i = end;
  }
  return words;
}

}  // namespace kvsim
