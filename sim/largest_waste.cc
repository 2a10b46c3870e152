#include "sim/largest_waste.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/string_view.h"

namespace kvsim {
namespace {

struct Remedy {
  absl::string_view account;
  absl::string_view setting;
  absl::string_view reason;
};
constexpr Remedy kRemedies[] = {
    {"remainder", "--block-size",
     "smaller blocks leave less of the memory over"},
    {"slot_padding", "--pipeline-parallel-size",
     "groups with fewer layers leave slots of a block empty; stages of other "
     "layers divide differently"},
    {"page_padding", "--kv-cache-dtype",
     "pages are rounded up to the alignment of their rows"},
    {"window_slack", "--max-num-batched-tokens",
     "rows behind a window go when the chunk after them is computed; smaller "
     "chunks leave fewer"},
    {"tail_slack", "--block-size", "smaller blocks end closer to their tokens"},
    {"state_previous", "--mamba-cache-mode",
     "align keeps the state before until it is copied; none does not"},
};
// Where recurrent states share the pool, blocks are as large as a state wants them.
constexpr Remedy kRemediesWithStates[] = {
    {"remainder", "--tensor-parallel-size",
     "blocks hold a state, and states shared by more ranks are smaller"},
    {"page_padding", "--block-size",
     "a page is the smallest number of whole blocks that holds a state"},
    {"tail_slack", "--tensor-parallel-size",
     "blocks grow until they hold a state, and states shared by more ranks are "
     "smaller"},
};

const Remedy* FindRemedy(absl::string_view account, bool states) {
  if (states) {
    for (const Remedy& remedy : kRemediesWithStates) {
      if (remedy.account == account) return &remedy;
    }
  }
  for (const Remedy& remedy : kRemedies) {
    if (remedy.account == account) return &remedy;
  }
  return nullptr;
}

bool HasStates(const Report& report, const std::string& kind) {
  if (kind == "recurrent") return true;
  for (const GroupLedger& group : report.groups()) {
    if (group.kind() == "recurrent") return true;
  }
  return false;
}

// (account, kind) and bytes; the pool's remainder has no kind.
using Wastes = std::map<std::pair<std::string, std::string>, int64_t>;

void AddWastes(const google::protobuf::RepeatedPtrField<LedgerLine>& lines,
               const std::string& kind, Wastes* wastes) {
  for (const LedgerLine& line : lines) {
    if (FindRemedy(line.account(), false) == nullptr) continue;
    const bool of_pool = line.account() == "remainder";
    (*wastes)[{line.account(), of_pool ? "" : kind}] += line.bytes();
  }
}

}  // namespace

void FillLargestWaste(const std::string& kind, Report* report) {
  Wastes wastes;
  if (report->groups().empty()) {
    AddWastes(report->ledger_mean(), kind, &wastes);
  } else {
    for (const LedgerLine& line : report->ledger_mean()) {
      if (line.account() != "remainder") continue;
      wastes[{line.account(), ""}] = line.bytes();
    }
    for (const GroupLedger& group : report->groups()) {
      AddWastes(group.mean(), group.kind(), &wastes);
    }
  }
  Waste* waste = report->mutable_largest_waste();
  for (const auto& [where, bytes] : wastes) {  // ties: the first by name
    if (bytes <= waste->bytes()) continue;
    waste->set_account(where.first);
    waste->set_kind(where.second);
    waste->set_bytes(bytes);
  }
  if (waste->bytes() == 0) return;
  const Remedy& remedy =
      *FindRemedy(waste->account(), HasStates(*report, kind));
  waste->set_share(static_cast<double>(waste->bytes()) /
                   static_cast<double>(report->pool_bytes()));
  waste->set_setting(std::string(remedy.setting));
  waste->set_reason(std::string(remedy.reason));
}

}  // namespace kvsim
