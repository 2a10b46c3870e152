// One request's life as a JSON object; docs/explain.md names its fields.
#ifndef KVSIM_SIM_STORY_JSON_H_
#define KVSIM_SIM_STORY_JSON_H_

#include <nlohmann/json.hpp>

#include "sim/request_story.h"
#include "sim/story_text.h"

namespace kvsim {

// Times are nanoseconds of model time; what never happened is left out.
nlohmann::ordered_json StoryJson(const Story& story,
                                 const StoryContext& context);

}  // namespace kvsim

#endif  // KVSIM_SIM_STORY_JSON_H_
