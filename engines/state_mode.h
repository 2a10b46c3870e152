// How the states of a recurrent layer are kept for prefix hits.

#ifndef KVSIM_ENGINES_STATE_MODE_H_
#define KVSIM_ENGINES_STATE_MODE_H_

namespace kvsim {

enum class StateMode {
  kNone,   // one running state per sequence
  kAlign,  // the running state, checkpointed on block boundaries
  kAll,    // one state per block
};

}  // namespace kvsim

#endif  // KVSIM_ENGINES_STATE_MODE_H_
