#include "sim/story_text.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text_table.h"
#include "base/units.h"

namespace kvsim {
namespace {

using Place = WaitStretch::Place;

std::string Duration(int64_t ns) { return FormatDuration(SimTime(ns)); }

std::string Count(int64_t n, const char* what) {
  return absl::StrCat(FormatCount(n), " ", what, n == 1 ? "" : "s");
}

std::string Blocks(int64_t n) { return Count(n, "block"); }

std::string GroupName(const StoryContext& context, int group) {
  const std::string& name = context.groups[static_cast<size_t>(group)];
  if (context.groups.size() == 1) return name;
  return absl::StrCat("group ", group, " (", name, ")");
}

std::string When(const KeyEvent& event) {
  return absl::StrCat("at ", FormatMoment(event.time_ns), " (step ",
                      FormatCount(event.step), ")");
}

// --- waiting ----------------------------------------------------------------------

std::string Comparison(const char* whose, const WaitStretch& wait) {
  std::string text =
      absl::StrCat(whose, " needed ", Blocks(wait.first_needed), " with ",
                   FormatCount(wait.first_free), " free");
  if (wait.steps > 1 && (wait.last_needed != wait.first_needed ||
                         wait.last_free != wait.first_free)) {
    absl::StrAppend(&text, "; in the last step ", FormatCount(wait.last_needed),
                    " with ", FormatCount(wait.last_free));
  }
  return text;
}

std::string LimitReason(const WaitStretch& wait, const StoryContext& context) {
  switch (wait.limit) {
    case AdmissionLimit::kMaxSequences:
      return absl::StrCat(FormatCount(context.max_num_seqs),
                          " requests were running (--max-num-seqs)");
    case AdmissionLimit::kTokenBudget:
      return absl::StrCat("the step's ",
                          FormatCount(context.max_num_batched_tokens),
                          " tokens left no room (--max-num-batched-tokens)");
    case AdmissionLimit::kPreemption:
      return "a preemption in the step closed admission";
    case AdmissionLimit::kGate:
      return Comparison("the whole prompt", wait);
    case AdmissionLimit::kBlocks:
      return Comparison("the step's tokens", wait);
    case AdmissionLimit::kStateDeferral:
      return "the state it would hit was computed in that very step";
    case AdmissionLimit::kAsyncDrain:
      return "outputs in flight had to come back first";
    case AdmissionLimit::kNoneWaiting:
      break;
  }
  return "";
}

// The time of each cause, when causes come back: "in all: gate 1.64 s, …".
std::string WaitTotals(const std::vector<WaitStretch>& waits) {
  std::vector<std::pair<std::string, int64_t>> totals;
  for (const WaitStretch& wait : waits) {
    const std::string cause = wait.place == WaitStretch::Place::kBetweenSteps
                                  ? "between steps"
                                  : AdmissionLimitName(wait.limit);
    const auto same =
        std::find_if(totals.begin(), totals.end(),
                     [&](const auto& total) { return total.first == cause; });
    const int64_t time_ns = wait.end_ns - wait.begin_ns;
    if (same == totals.end()) {
      totals.emplace_back(cause, time_ns);
    } else {
      same->second += time_ns;
    }
  }
  if (totals.size() == waits.size()) return "";
  return absl::StrCat("    in all: ",
                      absl::StrJoin(totals, ", ",
                                    [](std::string* out, const auto& total) {
                                      absl::StrAppend(out, total.first, " ",
                                                      Duration(total.second));
                                    }),
                      "\n");
}

std::string WaitSection(const Residency& residency,
                        const StoryContext& context) {
  if (residency.waits.empty()) return "  It did not wait.\n";
  TextTable table({TextTable::Align::kRight, TextTable::Align::kRight,
                   TextTable::Align::kRight, TextTable::Align::kLeft});
  table.AddRow({"from", "for", "steps", "because"});
  int64_t total = 0;
  for (const WaitStretch& wait : residency.waits) {
    total += wait.end_ns - wait.begin_ns;
    table.AddRow({FormatMoment(wait.begin_ns),
                  Duration(wait.end_ns - wait.begin_ns),
                  wait.steps == 0 ? "" : FormatCount(wait.steps),
                  WaitReason(wait, context)});
  }
  return absl::StrCat("  It waited ", Duration(total), ":\n",
                      table.Print("    "), WaitTotals(residency.waits));
}

// --- the hit ----------------------------------------------------------------------

// Groups whose misses are the same but for their number.
bool Alike(const GroupMiss& a, const GroupMiss& b,
           const StoryContext& context) {
  const auto name = [&](const GroupMiss& miss) {
    return context.groups[static_cast<size_t>(miss.group)];
  };
  return name(a) == name(b) && a.missing == b.missing && a.tokens == b.tokens &&
         a.key.first_keyed.step == b.key.first_keyed.step &&
         a.key.gone.step == b.key.gone.step && a.kept == b.kept;
}

// "group 0 (full attention)", "groups 1 to 5 (window of 1,024)".
std::string GroupNames(const StoryContext& context, int first, int last) {
  if (first == last) return GroupName(context, first);
  return absl::StrCat("groups ", first, last == first + 1 ? " and " : " to ",
                      last, " (", context.groups[static_cast<size_t>(first)],
                      ")");
}

std::string Cached(const KeyHistory& key, const Story& story) {
  const auto who = [&](RequestId id) {
    return id == story.id ? std::string("itself")
                          : absl::StrCat("request ", id);
  };
  std::string text = absl::StrCat("cached ", When(key.first_keyed), " by ",
                                  who(key.first_keyed.by));
  if (key.last_keyed.step != key.first_keyed.step) {
    absl::StrAppend(&text, ", last ", When(key.last_keyed), " by ",
                    who(key.last_keyed.by));
  }
  if (key.gone.happened()) {
    absl::StrAppend(&text, ", evicted ", When(key.gone), " when ",
                    who(key.gone.by), " took the block");
  }
  return text;
}

// What a hit would have taken, and what became of it.
std::string Fate(const GroupMiss& miss, int last_group, const Story& story,
                 const StoryContext& context) {
  std::string text = absl::StrCat(
      GroupNames(context, miss.group, last_group), " lacked ",
      FormatCount(miss.missing), " of the ", Count(miss.needed, "key"),
      " that a hit of ", FormatCount(miss.at_tokens),
      " tokens takes; the first, at token ", FormatCount(miss.tokens));
  if (miss.key.ever()) {
    absl::StrAppend(&text, ": ", Cached(miss.key, story));
  } else if (miss.inside_block) {
    absl::StrAppend(&text,
                    ", lies inside a block, where only the last unit of a "
                    "prompt gets a key");
  } else {
    absl::StrAppend(&text, ", was never kept");
  }
  return text;
}

// The prefixes that a group of windows or states did keep.
std::string Kept(const GroupMiss& miss, const StoryContext& context) {
  if (miss.num_kept == 0) {
    return absl::StrCat("; it kept nothing of this prefix (", context.kept_by,
                        ")");
  }
  std::vector<int64_t> kept = miss.kept;
  std::reverse(kept.begin(), kept.end());
  return absl::StrCat(
      "; it kept prefixes of ",
      miss.num_kept > static_cast<int64_t>(kept.size()) ? "..., " : "",
      absl::StrJoin(kept, ", ",
                    [](std::string* out, int64_t tokens) {
                      absl::StrAppend(out, FormatCount(tokens));
                    }),
      " tokens (", context.kept_by, ")");
}

// One line for all groups that missed the same.
std::string Fates(const std::vector<GroupMiss>& misses, bool with_kept,
                  const Story& story, const StoryContext& context) {
  std::string text;
  for (size_t i = 0; i < misses.size();) {
    size_t end = i + 1;
    while (end < misses.size() && Alike(misses[i], misses[end], context) &&
           misses[end].group == misses[end - 1].group + 1) {
      ++end;
    }
    const bool kept = with_kept && !misses[i].inside_block;
    absl::StrAppend(&text, "    ",
                    Fate(misses[i], misses[end - 1].group, story, context),
                    kept ? Kept(misses[i], context) : "", ".\n");
    i = end;
  }
  return text;
}

// What each group had, neighbours of one kind together.
std::string AloneLine(const HitExplanation& hit, const StoryContext& context) {
  const auto size = static_cast<int>(hit.group_tokens.size());
  std::string text = "    Alone, ";
  for (int g = 0; g < size;) {
    const auto at = static_cast<size_t>(g);
    int end = g + 1;
    while (end < size &&
           hit.group_tokens[static_cast<size_t>(end)] == hit.group_tokens[at] &&
           context.groups[static_cast<size_t>(end)] == context.groups[at]) {
      ++end;
    }
    absl::StrAppend(&text, g == 0 ? "" : ", ", GroupNames(context, g, end - 1),
                    " had ", FormatCount(hit.group_tokens[at]));
    g = end;
  }
  return text + ".\n";
}

std::string SharedWords(const HitExplanation& hit, const Story& story) {
  if (hit.shared_tokens == 0) return "no request before shares its first token";
  if (hit.shared_with == story.id) {
    return absl::StrCat("it had computed ", FormatCount(hit.shared_tokens),
                        " of them itself");
  }
  return absl::StrCat(
      "no request before shares more than ", FormatCount(hit.shared_tokens),
      " tokens with it (request ", hit.shared_with, " as many)");
}

std::string PartReason(const MissPart& part, const HitExplanation& hit,
                       const Story& story, const StoryContext& context) {
  switch (part.cause) {
    case MissCause::kCachingOff:
      return "prefix caching is off";
    case MissCause::kEvicted:
      return "evicted: they were cached once and taken for others";
    case MissCause::kNotKept:
      return "not kept: computed before, but not every group keeps this prefix";
    case MissCause::kNotComputed:
      return hit.shared_with == story.id
                 ? "not cached before the preemption"
                 : absl::StrCat("not computed yet: request ", hit.shared_with,
                                " has them and had not come that far");
    case MissCause::kDraft:
      return "a draft model gives the last unit of a hit back";
    case MissCause::kRounding:
      return absl::StrCat("rounding: hits are multiples of ",
                          FormatCount(context.hit_unit), " tokens");
    case MissCause::kLastToken:
      return "the last token is always computed";
    case MissCause::kNeverCached:
      return absl::StrCat("never cached: ", SharedWords(hit, story));
  }
  return "";
}

std::string HitSection(const Residency& residency, const Story& story,
                       const StoryContext& context) {
  const HitExplanation& hit = residency.hit;
  if (residency.swapped_in) {
    return absl::StrCat(
        "  Back from host memory at ", FormatMoment(residency.admitted_ns),
        " (step ", FormatCount(residency.admitted_step), ") with ",
        Count(residency.computed_tokens, "computed token"), ".\n");
  }
  std::string text = absl::StrCat(
      "  Admitted at ", FormatMoment(residency.admitted_ns), " (step ",
      FormatCount(residency.admitted_step), "): hit ",
      FormatCount(hit.hit_tokens), " of ", Count(hit.num_tokens, "token"),
      "; its first chunk needed ", Blocks(hit.needed_blocks), " with ",
      FormatCount(hit.free_blocks), " free.\n");
  if (hit.parts.empty()) return text;
  TextTable table({TextTable::Align::kRight, TextTable::Align::kRight,
                   TextTable::Align::kLeft});
  table.AddRow({"missed", "from token", "because"});
  for (const MissPart& part : hit.parts) {
    table.AddRow({FormatCount(part.tokens()), FormatCount(part.begin),
                  PartReason(part, hit, story, context)});
  }
  absl::StrAppend(&text, table.Print("    "));
  absl::StrAppend(&text, Fates(hit.evicted, false, story, context),
                  Fates(hit.not_kept, true, story, context));
  const bool lost = !hit.evicted.empty() || !hit.not_kept.empty();
  if (lost && hit.group_tokens.size() > 1) {
    absl::StrAppend(&text, AloneLine(hit, context));
  }
  if (hit.junction > 0) {
    absl::StrAppend(&text, "    The prefix of ", FormatCount(hit.junction),
                    " tokens is kept from now on, for the next that shares "
                    "it.\n");
  }
  return text;
}

// --- the work ---------------------------------------------------------------------

std::string EndWords(PrefillChunk::End end, const StoryContext& context) {
  switch (end) {
    case PrefillChunk::End::kComplete:
      return "nothing was left";
    case PrefillChunk::End::kThreshold:
      return "--long-prefill-token-threshold";
    case PrefillChunk::End::kBudget:
      return absl::StrCat("the step was full (",
                          FormatCount(context.max_num_batched_tokens),
                          " tokens, --max-num-batched-tokens)");
    case PrefillChunk::End::kStateBoundary:
      return "cut where a recurrent state stands on a block boundary";
  }
  return "";
}

std::string WorkSection(const Residency& residency,
                        const StoryContext& context) {
  if (!residency.admitted) return "";
  std::string text;
  constexpr size_t kShown = 12;
  if (!residency.chunks.empty()) {
    TextTable table({TextTable::Align::kRight, TextTable::Align::kRight,
                     TextTable::Align::kRight, TextTable::Align::kRight,
                     TextTable::Align::kLeft});
    table.AddRow({"step", "at", "from token", "tokens", "ended because"});
    for (size_t i = 0; i < std::min(kShown, residency.chunks.size()); ++i) {
      const PrefillChunk& chunk = residency.chunks[i];
      table.AddRow({FormatCount(chunk.step), FormatMoment(chunk.start_ns),
                    FormatCount(chunk.first_token),
                    FormatCount(chunk.num_tokens),
                    EndWords(chunk.end, context)});
    }
    text = absl::StrCat(
        "  Computed what it had not hit in ",
        Count(static_cast<int64_t>(residency.chunks.size()), "step"), ":\n",
        table.Print("    "));
    if (residency.chunks.size() > kShown) {
      absl::StrAppend(&text, "    and ", residency.chunks.size() - kShown,
                      " more (--json has all)\n");
    }
  }
  if (residency.decode_steps > 0) {
    absl::StrAppend(&text, "  Then it decoded in ",
                    Count(residency.decode_steps, "step"), ".\n");
  }
  return text;
}

std::string PreemptionLine(const StoryPreemption& p, const Residency& next,
                           const Story& story) {
  std::string text = absl::StrCat(
      "  Preempted at ", FormatMoment(p.time_ns), " (step ",
      FormatCount(p.step), "): ",
      p.by == story.id ? std::string("it") : absl::StrCat("request ", p.by),
      " needed ", Blocks(p.needed_blocks), " with ", FormatCount(p.free_blocks),
      " free.");
  if (p.swapped) {
    return absl::StrCat(text, " Its ",
                        Count(p.computed_tokens, "computed token"),
                        " went to host memory.\n");
  }
  absl::StrAppend(&text, " It lost ",
                  Count(p.computed_tokens, "computed token"));
  if (next.admitted) {
    const int64_t back = std::min(next.hit.hit_tokens, p.computed_tokens);
    absl::StrAppend(&text, "; hits brought back ", FormatCount(back), ", ",
                    FormatCount(p.computed_tokens - back),
                    " were computed again");
  }
  return text + ".\n";
}

// --- the whole --------------------------------------------------------------------

std::string EndLine(const Story& story, const StoryContext& context) {
  const std::string at = FormatMoment(story.end_ns);
  switch (story.end) {
    case Story::End::kFinished:
      return absl::StrCat(
          "  Finished at ", at, " with ", Count(story.outputs, "output"), ", ",
          Duration(story.end_ns - story.due_ns),
          " after its arrival; its first output came after ",
          Duration(story.first_output_ns - story.due_ns), ".\n");
    case Story::End::kTooLong:
      return absl::StrCat(
          "  Refused on arrival: ", Count(story.prompt_tokens, "prompt token"),
          " leave no room for an output below --max-model-len ",
          FormatCount(context.max_model_len), ".\n");
    case Story::End::kNeverFit:
      return absl::StrCat("  Dropped at ", at,
                          ": nothing else ran and it did not fit the pool of ",
                          Blocks(context.num_blocks), ".\n");
    case Story::End::kUnfinished:
      return "  The replay ended before it did.\n";
  }
  return "";
}

std::string PeakLine(const Story& story, const StoryContext& context,
                     ByteUnits units) {
  if (story.peak_blocks == 0) return "";
  std::string text = absl::StrCat(
      "  At its peak, ", FormatMoment(story.peak_ns), " (step ",
      FormatCount(story.peak_step), "), it held ", Blocks(story.peak_blocks));
  if (context.block_bytes > 0) {
    absl::StrAppend(
        &text, " of ", FormatBytes(Bytes(context.block_bytes), units), ", ",
        FormatBytes(Bytes(context.block_bytes * story.peak_blocks), units));
  }
  absl::StrAppend(&text, ":\n");
  for (size_t g = 0; g < story.peak.size(); ++g) {
    absl::StrAppend(&text, "    ", GroupName(context, static_cast<int>(g)),
                    ": ", Blocks(story.peak[g].blocks));
    if (story.peak[g].empty_rows > 0) {
      absl::StrAppend(&text, ", of which ",
                      Count(story.peak[g].empty_rows, "slot"),
                      " behind its last token");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace

std::string FormatMoment(int64_t time_ns) {
  return absl::StrCat(FormatRatio(time_ns, 1'000'000'000, 3), " s");
}

std::string WaitReason(const WaitStretch& wait, const StoryContext& context) {
  if (wait.place == Place::kBetweenSteps) return "a step was running";
  const std::string reason = LimitReason(wait, context);
  if (wait.place == Place::kHead) return reason;
  return absl::StrCat("behind request ", wait.first_head,
                      wait.last_head == wait.first_head
                          ? ""
                          : absl::StrCat(" (at last ", wait.last_head, ")"),
                      ": ", reason);
}

std::string StoryText(const Story& story, const StoryContext& context,
                      ByteUnits units) {
  std::string text = absl::StrCat(
      "Request ", story.id, ": ", Count(story.prompt_tokens, "prompt token"),
      ", ", Count(story.max_tokens, "output"), " to give\n  Arrived at ",
      FormatMoment(story.due_ns), ".\n");
  for (size_t i = 0; i < story.residencies.size(); ++i) {
    const Residency& residency = story.residencies[i];
    if (story.end != Story::End::kTooLong) {
      absl::StrAppend(&text, "\n", WaitSection(residency, context));
    }
    if (residency.admitted) {
      absl::StrAppend(&text, HitSection(residency, story, context),
                      WorkSection(residency, context));
    }
    if (residency.preempted.has_value()) {
      absl::StrAppend(&text, PreemptionLine(*residency.preempted,
                                            story.residencies[i + 1], story));
    }
  }
  absl::StrAppend(&text, "\n", EndLine(story, context),
                  PeakLine(story, context, units));
  return text;
}

}  // namespace kvsim
