# How kvsim's scripts call Bazel. Sourced by tools/run and tools/test after they
# have set ROOT to the project's folder.

# Bazel keeps its results below $HOME; a user without a usable one gets a
# folder of their own instead.
bazel_startup_options() {
  if [[ -z "${HOME:-}" || ! -w "$HOME" ]]; then
    echo "--output_user_root=${TMPDIR:-/tmp}/kvsim-bazel-$(id -u)"
  fi
}

# Runs Bazel in the project's folder, wherever the caller stands. Everything it
# says goes to stderr.
run_bazel() {
  local startup
  mapfile -t startup < <(bazel_startup_options)
  (cd "$ROOT" && bazel "${startup[@]}" "$@" </dev/null)
}
