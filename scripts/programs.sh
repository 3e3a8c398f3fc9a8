# Sourced by scripts/bench and scripts/trials, with `root` set to the checkout: lists the programs of a folder, or runs one.
#
#   lintel_program KIND FOLDER TITLE [NAME [--record] …]

# list FOLDER: the name and the first line of each.
list() {
  for file in "$1"/*.ts; do
    [ ! -f "$file" ] || printf '  %-12s %s\n' "$(basename "$file" .ts)" "$(sed -n '1,3s/^ \* //p' "$file" | head -n 1)"
  done
}

lintel_program() {
  kind=$1 files=$root/scripts/$2 title=$3
  shift 3
  if [ $# -eq 0 ] || [ "$1" = --help ]; then
    echo "$title, each run as ./scripts/$kind NAME [--help]. Of the program as people start it:"
    list "$files"
    echo "With the source of Lintel in them, for a module by itself or to make what a server is sent:"
    list "$files/with-source"
    echo "With --record its figures are put into docs/performance.md, docs/reliability.md or docs/derived.md, where they have a place there."
    exit 0
  fi
  name=$1
  shift
  program=$files/$name.ts
  [ -f "$program" ] || program=$files/with-source/$name.ts
  if [ ! -f "$program" ]; then
    echo "$kind: there is no $name: ./scripts/$kind lists them" >&2
    exit 2
  fi
  . "$root/scripts/setup.sh"
  lintel_setup all
  PATH=$(dirname "$bun"):$PATH
  export PATH
  case " $* " in
    *" --record "*) exec "$bun" "$root/scripts/record.ts" "$kind" "$name" "$program" "$@" ;;
  esac
  exec "$bun" "$program" "$@"
}
