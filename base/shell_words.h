// A command line split into words, as a shell does it.
//
// Model:   blanks and line ends separate words. Single quotes keep everything;
//          double quotes keep all but a backslash before ", \, $ or `; a
//          backslash outside quotes keeps the next character and joins two
//          lines. # at the beginning of a word is a comment up to the line's
//          end. Nothing is expanded: $HOME and * stay as they are.
// Errors:  InvalidArgument naming the quotation mark that is not closed and
//          the character, from 1, at which it stands.

#ifndef KVSIM_BASE_SHELL_WORDS_H_
#define KVSIM_BASE_SHELL_WORDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kvsim {

absl::StatusOr<std::vector<std::string>> SplitShellWords(
    absl::string_view text);

}  // namespace kvsim

#endif  // KVSIM_BASE_SHELL_WORDS_H_
