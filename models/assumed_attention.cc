#include "models/assumed_attention.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kvsim {

absl::StatusOr<AssumedAttention> ParseAssumedAttention(absl::string_view text) {
  for (const AssumedAttention assume :
       {AssumedAttention::kNone, AssumedAttention::kGqa,
        AssumedAttention::kMla}) {
    if (Name(assume) == text) return assume;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--assume is \"", text, "\"; accepted: gqa, mla"));
}

absl::string_view Name(AssumedAttention assume) {
  switch (assume) {
    case AssumedAttention::kNone:
      return "";
    case AssumedAttention::kGqa:
      return "gqa";
    case AssumedAttention::kMla:
      return "mla";
  }
  return "";
}

}  // namespace kvsim
