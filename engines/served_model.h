// What the command that starts an engine names and a caller has to load.

#ifndef KVSIM_ENGINES_SERVED_MODEL_H_
#define KVSIM_ENGINES_SERVED_MODEL_H_

#include <string>
#include <vector>

namespace kvsim {

struct ServedModel {
  std::string model;                  // "": the command names none
  std::string hf_overrides;           // JSON object; "" for none
  std::string draft_model;            // "": no drafter with a cache of its own
  std::vector<std::string> warnings;  // flags that are not modelled
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_SERVED_MODEL_H_
