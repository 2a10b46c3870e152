// Words of a command line that CLI11 would not read as they are meant.
//
// Shorthands: engines abbreviate some long flags behind a single dash (-tp),
//          which CLI11 would take for a row of one-letter flags.
// Flag lines: a positional argument of type kFlagLine is a whole line of flags
//          in one word, "--model x --tp 2", which CLI11 would take for one
//          flag. Such a word gets a blank in front, which makes it positional.

#ifndef KVSIM_TOOLS_FLAG_WORDS_H_
#define KVSIM_TOOLS_FLAG_WORDS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kvsim {

// The type name of a positional argument that is a line of flags.
inline constexpr char kFlagLine[] = "FLAGS";

// "-tp" and "-tp=8" with the long name; anything else as it is.
std::string ExpandShorthand(const std::string& argument);

// Marks the flag lines among `arguments`, the first of which names a command of
// `app`. A word is one when a blank stands in it before a dash or before its
// first "=", and when it stands directly behind the command and one such word.
void ProtectFlagLines(const CLI::App& app, std::vector<std::string>& arguments);

}  // namespace kvsim

#endif  // KVSIM_TOOLS_FLAG_WORDS_H_
