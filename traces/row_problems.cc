#include "traces/row_problems.h"

#include "absl/strings/str_cat.h"
#include "base/text.h"

namespace kvsim {
namespace {

std::string Ms(int64_t time_ns) {
  return absl::StrCat(FormatRatio(time_ns, 1'000'000, 3), " ms");
}

}  // namespace

TraceProblem OutOfOrder(TraceProblem place, int64_t arrival_ns,
                        int64_t last_arrival_ns) {
  place.field = "timestamp";
  place.found = Ms(arrival_ns);
  place.accepted =
      absl::StrCat("at least the row before it, ", Ms(last_arrival_ns),
                   " (`kvsim trace convert --sort` sorts a trace once)");
  return place;
}

TraceProblem UnannouncedSession(TraceProblem place, absl::string_view session) {
  place.field = "session_id";
  place.found = Excerpt(session);
  place.accepted = "no session, because the first row has none";
  return place;
}

}  // namespace kvsim
