# How kvsim's scripts call Bazel. Sourced by tools/run and tools/test after they
# have set ROOT to the project's folder.
#
# Bazel 4 refuses to work below a path with a space in it. For a project that
# stands there, its place is taken by a folder of links without one.

# A folder of this user's, without spaces, for what Bazel cannot keep in $HOME.
private_folder() {
  local home="${HOME:-}"
  if [[ -n "$home" && -w "$home" && "$home" != *[[:space:]]* ]]; then
    echo "$home/.cache/kvsim"
  else
    echo "/tmp/kvsim-$(id -u)"
  fi
}

# Bazel keeps its results below $HOME unless that cannot be.
bazel_startup_options() {
  local folder
  folder="$(private_folder)"
  if [[ "$folder" != "${HOME:-}"/* ]]; then
    echo "--output_user_root=$folder/bazel"
  fi
}

# Prints the folder Bazel works in: the project's own, or one of links to
# everything in it, brought up to date.
bazel_folder() {
  if [[ "$ROOT" != *[[:space:]]* ]]; then
    echo "$ROOT"
    return
  fi
  local links entry
  links="$(private_folder)/links-$(cksum <<<"$ROOT" | cut -d ' ' -f 1)"
  mkdir -p "$links"
  find "$links" -mindepth 1 -maxdepth 1 -type l ! -name 'bazel-*' -delete
  for entry in "$ROOT"/* "$ROOT"/.[!.]*; do
    case "${entry##*/}" in
      .git | bazel-*) ;;
      *) ln -s "$entry" "$links/" ;;
    esac
  done
  # Results are found at the usual place.
  for entry in bazel-bin bazel-testlogs; do
    ln -sfn "$links/$entry" "$ROOT/$entry"
  done
  echo "$links"
}

# What the Python module is built from, as installed. Bazel looks for it again
# whenever this changes.
python_packages() {
  dpkg-query -W -f='${Package}=${Version},' \
    pybind11-dev python3-dev python3-numpy 2>/dev/null || true
}

# Runs Bazel's command $1 on the project, wherever the caller stands.
run_bazel() {
  local startup folder
  mapfile -t startup < <(bazel_startup_options)
  folder="$(bazel_folder)"
  (cd "$folder" && bazel "${startup[@]}" "$1" \
    --repo_env=KVSIM_PYTHON="$(python_packages)" "${@:2}" </dev/null)
}
