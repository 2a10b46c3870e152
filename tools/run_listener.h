// Who follows a run from outside: sees its steps and may end it.
//
// A terminal does so through RunWatch; a program that has kvsim inside itself
// brings its own (CommandContext::listener).
#ifndef KVSIM_TOOLS_RUN_LISTENER_H_
#define KVSIM_TOOLS_RUN_LISTENER_H_

#include "sim/step_observer.h"

namespace kvsim {

class RunListener : public StepObserver {
 public:
  // Looked at before each step; the run ends when it has turned true. Never
  // null; valid as long as the listener.
  virtual const bool* stop() const = 0;
};

}  // namespace kvsim

#endif  // KVSIM_TOOLS_RUN_LISTENER_H_
