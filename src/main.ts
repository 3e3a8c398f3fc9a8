import { runCommandLine } from "./cli/command-line.ts";
import { processTerminal } from "./cli/terminal.ts";

const terminal = processTerminal();
process.exitCode = await runCommandLine(process.argv.slice(2), terminal);
await terminal.flushed();
process.exit();
