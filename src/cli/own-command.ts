/** Runs a command of this program, as the launcher starts it: without the settings of a process that runs for months. */
export async function runCommand(words: readonly string[], stop: AbortSignal) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("BUN_JSC_")),
  );
  const child = Bun.spawn([process.execPath, ...process.execArgv, process.argv[1] ?? "", ...words], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe", signal: stop, env },
  });
  const [out, said, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, said };
}
