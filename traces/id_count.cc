#include "traces/id_count.h"

#include "absl/strings/str_cat.h"

namespace kvsim {

void CheckIdCount(const TraceRequest& row, IdCount rule, absl::string_view name,
                  JsonFields* fields) {
  const int64_t whole = row.input_length / row.hash_block;
  const int64_t all = whole + (row.input_length % row.hash_block != 0 ? 1 : 0);
  const auto found = static_cast<int64_t>(row.hash_ids.size());
  if ((found == whole && rule != IdCount::kAllBlocks) ||
      (found == all && rule != IdCount::kWholeBlocks)) {
    return;
  }
  const std::string per = absl::StrCat(
      row.hash_block, " tokens of input_length ", row.input_length);
  std::string accepted;
  switch (rule) {
    case IdCount::kWholeBlocks:
      accepted = absl::StrCat(whole, " ids: one per whole ", per);
      break;
    case IdCount::kAllBlocks:
      accepted =
          absl::StrCat(all, " ids: one per ", per, ", the last for the rest");
      break;
    case IdCount::kEither:
      accepted = absl::StrCat(whole, " or ", all, " ids: one per ", per);
      break;
  }
  fields->AddProblem(name, absl::StrCat(found, " ids"), accepted);
}

}  // namespace kvsim
