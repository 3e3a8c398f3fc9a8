# The last lines of scripts/lintel, and of `lintel` in a package: runs $program on $bun with the words of the command line.

case ${1:-} in
  # A gateway is there for months, and its work is done in SQLite. Bundled, with its JavaScript interpreted, and its heap
  # collected whole before it grows by a sixth, it takes two thirds of the memory (./scripts/bench memory; LINTEL_DEBUG=1,
  # BUN_JSC_useBaselineJIT=1 and BUN_JSC_forceMiniVMMode=0 compare). The other commands go through long files and end:
  # they keep the compiler. Not by useJIT=0, which does both: calls of the C library are compiled, and serial ports, GPIO
  # and the word to systemd rest on them.
  run)
    export BUN_JSC_useBaselineJIT="${BUN_JSC_useBaselineJIT:-0}" BUN_JSC_forceMiniVMMode="${BUN_JSC_forceMiniVMMode:-1}"
    # One token may make a gateway take 160 MB (docs/decisions/memory.md). Code that has not run for a while goes soon.
    export BUN_JSC_miniVMHeapGrowthFactor="${BUN_JSC_miniVMHeapGrowthFactor:-1.17}"
    export BUN_JSC_useEagerCodeBlockJettisonTiming="${BUN_JSC_useEagerCodeBlockJettisonTiming:-1}"
    ;;
esac
# Bun would take settings, variables and whose JSX the pages are in from where somebody stands and not from where the
# program is; bunfig.toml may name code to run, and root stands in directories of others. Nor does it fetch packages.
exec "$bun" --config=/dev/null --no-env-file --no-install --jsx-import-source=preact "$program" "$@"
