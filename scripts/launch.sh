# The last lines of scripts/lintel, and of `lintel` in a package: runs $program on $bun with the words of the command line.

# Nothing is compiled before it has run often: of a command that ends at once, compiling took a quarter of the time.
export BUN_JSC_thresholdForJITAfterWarmUp="${BUN_JSC_thresholdForJITAfterWarmUp:-20000}"
export BUN_JSC_thresholdForJITSoon="${BUN_JSC_thresholdForJITSoon:-5000}"
case ${1:-} in
  # A gateway is there for months, beside little else. With 2 GB of memory or more (MemTotal says less, a part is the kernel's) what
  # it does often is compiled, but for the last stage of the compiler, and pages take half to a third of the time. With less its
  # JavaScript is interpreted. Its whole heap is collected before it grows by a fifth. docs/decisions/memory.md has the figures.
  # Not by useJIT=0: calls of the C library are compiled, and serial ports, GPIO and the word to systemd rest on them. The other
  # commands go through long files and end: they have all else of Bun as it comes. LINTEL_MEMORY_KB stands in for the machine's
  # memory.
  run)
    memory_kb=${LINTEL_MEMORY_KB:-$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)}
    if [ "${memory_kb:-0}" -ge 1600000 ]; then
      export BUN_JSC_useFTLJIT="${BUN_JSC_useFTLJIT:-0}" BUN_JSC_useGenerationalGC="${BUN_JSC_useGenerationalGC:-0}"
      export BUN_JSC_smallHeapGrowthFactor="${BUN_JSC_smallHeapGrowthFactor:-1.2}"
      export BUN_JSC_thresholdForOptimizeAfterWarmUp="${BUN_JSC_thresholdForOptimizeAfterWarmUp:-5000}"
    else
      export BUN_JSC_useBaselineJIT="${BUN_JSC_useBaselineJIT:-0}" BUN_JSC_forceMiniVMMode="${BUN_JSC_forceMiniVMMode:-1}"
      export BUN_JSC_miniVMHeapGrowthFactor="${BUN_JSC_miniVMHeapGrowthFactor:-1.17}"
    fi
    # Code that has not run for a while goes soon.
    export BUN_JSC_useEagerCodeBlockJettisonTiming="${BUN_JSC_useEagerCodeBlockJettisonTiming:-1}"
    ;;
esac
# Bun would take settings, variables and whose JSX the pages are in from where somebody stands and not from where the
# program is; bunfig.toml may name code to run, and root stands in directories of others. Nor does it fetch packages.
exec "$bun" --config=/dev/null --no-env-file --no-install --jsx-import-source=preact "$program" "$@"
