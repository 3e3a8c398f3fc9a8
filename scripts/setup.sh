# Sourced by the other scripts: finds or fetches the pinned Bun and the dependencies, once, inside this checkout.
#
#   . scripts/setup.sh            with `root` set to the checkout
#   lintel_setup production|all   afterwards $bun is the Bun to run
#   lintel_bundle                 afterwards $program is the bundle, where there can be one
#
# Whoever may not write here runs what was complete before, where the checkout has been changed since and not been
# completed: $program is then that bundle, and $bun its Bun.
#
# Works with POSIX sh and any one of curl, wget, npm or the right Bun on PATH. Everything fetched lands in
# $root/.bun and $root/node_modules; deleting both starts afresh. Once both are there, neither need be writable.

lintel_fail() {
  printf 'lintel: %s\n' "$1" >&2
  exit 1
}

# The name of Bun's package for this machine: libc and processor both matter.
bun_package() {
  system=$(uname -s) machine=$(uname -m)
  [ "$system" = Linux ] || lintel_fail "runs on Linux, this is $system: use a Raspberry Pi, a Debian machine or a Linux container"
  libc=
  # The loader that the machine's own programs name, at the head of the file. Debian has musl's beside its own where the
  # package musl is installed, and Alpine glibc's with gcompat.
  if head -c 4096 /bin/sh | grep -q /ld-musl-; then libc=-musl; fi
  case $machine in
    x86_64)
      if grep -q ' avx2 ' /proc/cpuinfo 2>/dev/null; then variant=; else variant=-baseline; fi
      printf 'bun-linux-x64%s%s' "$libc" "$variant" ;;
    aarch64) printf 'bun-linux-aarch64%s' "$libc" ;;
    *) lintel_fail "there is no Bun for $machine: install the 64-bit Raspberry Pi OS or 64-bit Debian" ;;
  esac
}

# download URL FILE, with whatever this machine has.
download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --retry 3 --max-time 600 --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet --tries=3 --timeout=60 --output-document="$2" "$1"
  else
    return 1
  fi
}

# fetch_bun PACKAGE FILE: the pinned Bun of a package, checked by its checksum.
fetch_bun() {
  package=$1
  archive=$package-$bun_version.tgz
  grep -q "  $archive\$" "$root/scripts/bun.sha512" || lintel_fail "scripts/bun.sha512 has no line for $archive: add it before pinning this version"
  mkdir -p "$work"
  printf 'lintel: fetching Bun %s (%s, about 40 MB, once)\n' "$bun_version" "$package" >&2
  if download "https://registry.npmjs.org/@oven/$package/-/$archive" "$work/$archive"; then :
  elif command -v npm >/dev/null 2>&1; then
    (cd "$work" && npm pack --silent --cache "$work/npm" "@oven/$package@$bun_version" >/dev/null && mv ./*"$package-$bun_version.tgz" "$archive") ||
      lintel_fail "npm could not fetch @oven/$package@$bun_version: check the network and run this again"
  elif command -v curl >/dev/null 2>&1 || command -v wget >/dev/null 2>&1; then
    lintel_fail "could not fetch $archive from registry.npmjs.org: check the network and run this again"
  else
    lintel_fail "needs curl, wget, npm or Bun $bun_version to begin: try 'sudo apt-get install curl'"
  fi
  (cd "$work" && grep "  $archive\$" "$root/scripts/bun.sha512" | sha512sum --check --status) ||
    lintel_fail "$archive does not match its checksum in scripts/bun.sha512: it was cut short or altered; run this again"
  # Owned by who runs this, whoever packed it.
  tar -xzof "$work/$archive" -C "$work" package/bin/bun || lintel_fail "could not unpack $archive: is the disk full?"
  chmod 755 "$work/package/bin/bun"
  # On disk before it has its name: a box may lose its power now.
  sync
  mkdir -p "$(dirname "$2")"
  mv "$work/package/bin/bun" "$2"
}

# Whether a file is the pinned Bun: one that was cut short, or is of another machine, does not say so.
is_pinned() {
  [ -x "$1" ] && [ "$("$1" --version 2>/dev/null)" = "$bun_version" ]
}

find_bun() {
  bun=$root/.bun/$bun_version/bun
  is_pinned "$bun" && return
  bun=$(command -v bun 2>/dev/null) && is_pinned "$bun"
}

# has_dependencies production|all: the lock file is the one that was last installed from.
has_dependencies() {
  lock=$(cksum <"$root/bun.lock")
  [ "$(cat "$root/node_modules/.lintel-all" 2>/dev/null)" = "$lock" ] && return
  [ "$1" = production ] && [ "$(cat "$root/node_modules/.lintel-production" 2>/dev/null)" = "$lock" ]
}

install_dependencies() {
  printf 'lintel: installing the dependencies (%s, once)\n' "$1" >&2
  only=
  [ "$1" = production ] && only=--production
  # No install scripts run: the native parts that need them are replaced by drivers/native.
  if ! (cd "$root" && "$bun" install --frozen-lockfile --ignore-scripts --cache-dir "$root/.bun/packages" $only) >"$root/.bun/install.log" 2>&1; then
    tail -n 5 "$root/.bun/install.log" >&2
    lintel_fail "could not install the dependencies (all of it: .bun/install.log): check the network and run this again"
  fi
  sync
  printf '%s\n' "$lock" >"$root/node_modules/.lintel-$1"
}

# Why nothing can be written into the checkout, and what to do.
why_closed() {
  if LC_ALL=C mkdir -p "$root/.bun/fetch.$$" 2>&1 | grep -q 'Read-only file system'; then
    printf 'its file system is read-only: the SD card is failing, or was mounted so (dmesg says which)'
  else
    printf "%s may not write there: run 'sudo %s/scripts/lintel --version' once" "$(id -un)" "$root"
  fi
}

# One at a time: two first runs would write into each other's node_modules. In a subshell, so that its traps,
# mask and lock end with it.
fetch_what_is_missing() (
  # The service's user reads what root fetches here, whatever root's mask is.
  umask 022
  mkdir -p "$root/.bun" 2>/dev/null && [ -w "$root/.bun" ] ||
    lintel_fail "$root is not complete, and $(why_closed)"
  work=$root/.bun/fetch.$$
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  if command -v flock >/dev/null 2>&1; then
    exec 9>"$root/.bun/lock"
    flock -n 9 || { echo "lintel: waiting for another run that fetches" >&2; flock 9; }
  fi
  find_bun || { package=$(bun_package) && fetch_bun "$package" "$root/.bun/$bun_version/bun"; find_bun || lintel_fail "the Bun that was fetched does not run on this machine: $bun --version says why"; }
  has_dependencies "$1" || install_dependencies "$1"
)

# Whether root has yet to complete what was changed here, as between the steps of an upgrade. Nobody can then run the
# new program, and sensors are not to wait for it: the one before is there whole, in its bundle.
use_previous() {
  [ ! -w "$root" ] || return 1
  previous=$(newest_bundles | head -n 1)
  [ -n "$previous" ] && [ -x "$previous/bun" ] || return 1
  bun=$previous/bun program=$previous/main.js
  printf 'lintel: %s was changed and is not complete: running what was there before, until you run '"'sudo %s/scripts/lintel --version'"'\n' "$root" "$root" >&2
}

# The directories of bundles that are there, the newest first.
newest_bundles() {
  ls -dt "$root"/.bun/program/*/ 2>/dev/null | sed 's,/$,,'
}

lintel_setup() {
  # Bun keeps what it has compiled; in the checkout, not in the home directory of whoever runs it.
  export BUN_RUNTIME_TRANSPILER_CACHE_PATH="$root/.bun/compiled"
  bun_version=$(sed -n 's/.*"packageManager": "bun@\([^"]*\)".*/\1/p' "$root/package.json")
  previous=
  if find_bun && has_dependencies "$1"; then return; fi
  [ "$1" = all ] || ! use_previous || return 0
  fetch_what_is_missing "$1" || exit $?
  find_bun || lintel_fail "Bun $bun_version went away while it was being used: run this again"
}

# bundle_into DIR: the source as few files, the same ones wherever the checkout lies. `node_modules` belongs beside them.
bundle_into() (
  cd "$root" || exit 1
  # A library reads its own package.json from beside __dirname, which the bundler would fix to this checkout.
  herdsman=node_modules/zigbee-herdsman/dist/utils
  # Threads and a process by themselves, or they would load what they share a file with. epoll, which onoff and GPIO
  # lines stand on, starts a thread from beside its own file, and both stay where they are.
  for entry in "src/main.ts --splitting" src/store/sqlite/writer.ts src/cli/backup/vacuum.ts src/export/mirror/sql-worker.ts; do
    "$bun" build ./$entry --target bun --minify-syntax --minify-whitespace --external onoff --external epoll \
      --define "process.env.LINTEL_VERSION=\"${LINTEL_VERSION:-}\"" --define "process.env.LINTEL_COMMIT=\"$LINTEL_COMMIT\"" \
      --define "__dirname=\"$herdsman\"" --outdir "$1" || exit 1
  done
  sed -i "s|\"$herdsman\"|import.meta.dir + \"/$herdsman\"|" "$1"/*.js || exit 1
  # What browsers run.
  "$bun" build ./src/web/pages/browser/main.tsx --target browser --minify --splitting --outdir "$1/pages" \
    --metafile="$1/pages/built.json" || exit 1
)

# The source bundled into few files, in a directory named by all that it is made of, so that it is never an older one.
# Bun keeps some 10 KB for every module that it loads, in every thread, and there are seven hundred. The bundle before
# stays: a gateway may be running from it, which loads what its adapter needs when that is plugged in.
make_bundle() (
  umask 022
  mkdir -p "$root/.bun/program" 2>/dev/null && [ -w "$root/.bun/program" ] || exit 0
  work=$root/.bun/bundle.$$
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  if command -v flock >/dev/null 2>&1; then
    exec 9>"$root/.bun/lock"
    flock 9
  fi
  [ ! -d "$1" ] || exit 0
  lintel_commit
  bundle_into "$work" >"$root/.bun/bundle.log" 2>&1 || exit 0
  # What stays out of the bundle is asked for beside it.
  ln -s ../../../node_modules "$work/node_modules"
  # With the Bun that it was made by, which a later checkout does not name any more.
  ln -s "$bun" "$work/bun"
  sync
  mv "$work" "$1"
  newest_bundles | tail -n +3 | while read -r old; do rm -rf "$old"; done
)

# The files that the program is built from.
ingredients="src/ drivers/ docs/derived.md systemd/lintel.toml scripts/setup.sh package.json bun.lock"

# The commit that is checked out, ten digits; nothing where there is none. Read by hand: git refuses a checkout of another
# user's, as the service's is.
head_commit() {
  git=$root/.git
  if [ -f "$git" ]; then git=$(cd "$root" && cd "$(sed -n 's/^gitdir: //p' .git)" 2>/dev/null && pwd) || return 0; fi
  [ -f "$git/HEAD" ] || return 0
  common=$git
  if [ -f "$git/commondir" ]; then common=$(cd "$git" && cd "$(cat commondir)" 2>/dev/null && pwd) || return 0; fi
  head=$(cat "$git/HEAD")
  case $head in
    "ref: "*)
      ref=${head#ref: }
      if [ -f "$common/$ref" ]; then head=$(cat "$common/$ref"); else
        head=$(sed -n "s|^\([0-9a-f]*\) $ref\$|\1|p" "$common/packed-refs" 2>/dev/null) || head=
      fi
      ;;
  esac
  printf '%.10s' "$head"
}

# Has the program say of which commit it is, and whether it was changed since, as far as there is a git to ask.
lintel_commit() {
  LINTEL_COMMIT=$(head_commit)
  [ -z "$LINTEL_COMMIT" ] || ! command -v git >/dev/null 2>&1 ||
    # shellcheck disable=SC2086
    [ -z "$(git -C "$root" -c "safe.directory=$root" --no-optional-locks status --porcelain -- $ingredients 2>/dev/null)" ] ||
    LINTEL_COMMIT=$LINTEL_COMMIT.changed
  export LINTEL_COMMIT
}

lintel_bundle() {
  [ -z "$previous" ] || return 0
  # Errors then name lines of the source.
  if [ -n "${LINTEL_DEBUG:-}" ]; then lintel_commit; return; fi
  # shellcheck disable=SC2086
  made_of=$({ head_commit; cd "$root" && pwd -P && find $ingredients -type f -exec cksum {} +; } | LC_ALL=C sort | cksum)
  bundle=$root/.bun/program/${made_of% *}
  [ -d "$bundle" ] || make_bundle "$bundle" || true
  if [ -d "$bundle" ]; then
    program=$bundle/main.js
    # The newest is the one that was completed last, also after going back to an older version.
    [ ! -w "$bundle" ] || touch "$bundle"
    return
  fi
  # Where none was ever made, the source does as well, in more memory.
  use_previous || lintel_commit
}
