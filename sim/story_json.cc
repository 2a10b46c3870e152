#include "sim/story_json.h"

#include <string>

namespace kvsim {
namespace {

using Json = nlohmann::ordered_json;

const char* PlaceName(WaitStretch::Place place) {
  switch (place) {
    case WaitStretch::Place::kBetweenSteps:
      return "between_steps";
    case WaitStretch::Place::kHead:
      return "head";
    case WaitStretch::Place::kBehind:
      return "behind";
  }
  return "";
}

Json WaitJson(const WaitStretch& wait, const StoryContext& context) {
  Json json = {{"begin_ns", wait.begin_ns},
               {"end_ns", wait.end_ns},
               {"steps", wait.steps},
               {"place", PlaceName(wait.place)}};
  if (wait.place != WaitStretch::Place::kBetweenSteps) {
    json["first_step"] = wait.first_step;
    json["limit"] = AdmissionLimitName(wait.limit);
  }
  if (wait.place == WaitStretch::Place::kBehind) {
    json["first_head"] = wait.first_head;
    json["last_head"] = wait.last_head;
  }
  if (wait.first_needed > 0) {
    json["first_needed_blocks"] = wait.first_needed;
    json["first_free_blocks"] = wait.first_free;
    json["last_needed_blocks"] = wait.last_needed;
    json["last_free_blocks"] = wait.last_free;
  }
  json["because"] = WaitReason(wait, context);
  return json;
}

Json EventJson(const KeyEvent& event) {
  return {{"step", event.step}, {"time_ns", event.time_ns}, {"by", event.by}};
}

Json MissJson(const GroupMiss& miss) {
  Json json = {{"group", miss.group},
               {"at_tokens", miss.at_tokens},
               {"needed_keys", miss.needed},
               {"missing_keys", miss.missing},
               {"first_missing_token", miss.tokens},
               {"prefixes_kept", miss.num_kept},
               {"longest_kept", miss.kept}};
  if (miss.key.ever()) json["cached"] = EventJson(miss.key.first_keyed);
  if (miss.key.gone.happened()) json["evicted"] = EventJson(miss.key.gone);
  return json;
}

Json MissesJson(const std::vector<GroupMiss>& misses) {
  Json json = Json::array();
  for (const GroupMiss& miss : misses) json.push_back(MissJson(miss));
  return json;
}

Json HitJson(const HitExplanation& hit) {
  Json json = {{"known_tokens", hit.num_tokens},
               {"hit_tokens", hit.hit_tokens},
               {"shared_tokens", hit.shared_tokens}};
  if (hit.shared_tokens > 0) json["shared_with"] = hit.shared_with;
  json["needed_blocks"] = hit.needed_blocks;
  json["free_blocks"] = hit.free_blocks;
  if (hit.junction > 0) json["junction"] = hit.junction;
  json["group_tokens"] = hit.group_tokens;
  Json& missed = json["missed"] = Json::array();
  for (const MissPart& part : hit.parts) {
    missed.push_back({{"cause", MissCauseName(part.cause)},
                      {"begin", part.begin},
                      {"end", part.end},
                      {"tokens", part.tokens()}});
  }
  json["lost_by_eviction"] = MissesJson(hit.evicted);
  json["never_kept"] = MissesJson(hit.not_kept);
  return json;
}

Json PreemptionJson(const StoryPreemption& p, const Residency& next) {
  Json json = {{"step", p.step},
               {"time_ns", p.time_ns},
               {"by", p.by},
               {"computed_tokens", p.computed_tokens},
               {"in_flight", p.in_flight},
               {"needed_blocks", p.needed_blocks},
               {"free_blocks", p.free_blocks}};
  if (p.swapped) {
    json["swapped"] = true;
  } else if (next.admitted) {
    json["hit_at_resumption"] = next.hit.hit_tokens;
  }
  return json;
}

Json ResidencyJson(const Story& story, size_t index,
                   const StoryContext& context) {
  const Residency& residency = story.residencies[index];
  Json json;
  Json& waits = json["waits"] = Json::array();
  for (const WaitStretch& wait : residency.waits) {
    waits.push_back(WaitJson(wait, context));
  }
  if (!residency.admitted) return json;
  json["admitted_step"] = residency.admitted_step;
  json["admitted_ns"] = residency.admitted_ns;
  if (residency.swapped_in) {
    json["swapped_in_tokens"] = residency.computed_tokens;
  } else {
    json["hit"] = HitJson(residency.hit);
  }
  Json& chunks = json["chunks"] = Json::array();
  for (const PrefillChunk& chunk : residency.chunks) {
    chunks.push_back({{"step", chunk.step},
                      {"start_ns", chunk.start_ns},
                      {"first_token", chunk.first_token},
                      {"tokens", chunk.num_tokens},
                      {"ended_by", ChunkEndName(chunk.end)}});
  }
  json["decode_steps"] = residency.decode_steps;
  if (residency.preempted.has_value()) {
    json["preempted"] =
        PreemptionJson(*residency.preempted, story.residencies[index + 1]);
  }
  return json;
}

}  // namespace

Json StoryJson(const Story& story, const StoryContext& context) {
  Json json = {{"request", story.id},
               {"end", StoryEndName(story.end)},
               {"prompt_tokens", story.prompt_tokens},
               {"max_tokens", story.max_tokens},
               {"outputs", story.outputs},
               {"due_ns", story.due_ns}};
  if (story.first_output_ns != Story::kNotYet) {
    json["first_output_ns"] = story.first_output_ns;
  }
  if (story.end_ns != Story::kNotYet) json["end_ns"] = story.end_ns;
  Json& residencies = json["residencies"] = Json::array();
  for (size_t i = 0; i < story.residencies.size(); ++i) {
    residencies.push_back(ResidencyJson(story, i, context));
  }
  Json& groups = json["groups"] = Json::array();
  for (size_t g = 0; g < context.groups.size(); ++g) {
    Json group = {{"kind", context.groups[g]},
                  {"block_tokens", context.group_blocks[g]}};
    if (g < story.peak.size()) {
      group["peak_blocks"] = story.peak[g].blocks;
      group["peak_empty_slots"] = story.peak[g].empty_rows;
    }
    groups.push_back(std::move(group));
  }
  json["peak_blocks"] = story.peak_blocks;
  json["peak_step"] = story.peak_step;
  if (context.block_bytes > 0) {
    json["peak_bytes"] = story.peak_blocks * context.block_bytes;
  }
  return json;
}

}  // namespace kvsim
