/** The units of Lintel, as systemd lists them, each with its state; undefined where systemd does not run. */
export function unitStates(): Record<string, Record<string, string>> | undefined {
  const shown = printed("systemctl", [
    "show",
    "lintel*.service",
    "lintel*.timer",
    "--all",
    `--property=${properties}`,
  ]);
  if (shown === undefined) return undefined;
  const units = shown
    .trim()
    .split(/\n{2,}/)
    .map((block) => Object.fromEntries(block.split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2))));
  return Object.fromEntries(
    units.flatMap(({ Id: id, ...facts }) =>
      /^lintel[\w-]*\.(service|timer)$/.test(id ?? "") ? [[id, facts]] : [],
    ),
  );
}

/** A line of the journal: when, of which unit, how grave (0 to 7), and its text. */
export interface JournalLine {
  readonly at: string;
  readonly unit: string;
  readonly priority: string;
  readonly text: string;
}

/** The last lines of the journal of Lintel's units, oldest first; undefined where there is none that this user may read. */
export function journal(): JournalLine[] | undefined {
  const shown = printed("journalctl", [
    "--unit=lintel*",
    `--lines=${lines_max}`,
    "--output=json",
    "--output-fields=MESSAGE,_SYSTEMD_UNIT,UNIT,PRIORITY",
    "--no-pager",
    "--quiet",
  ]);
  return shown
    ?.split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { __REALTIME_TIMESTAMP: us, MESSAGE, _SYSTEMD_UNIT, UNIT, PRIORITY } = JSON.parse(line);
      const unit = String(UNIT ?? _SYSTEMD_UNIT ?? "");
      return {
        at: new Date(Number(us) / 1000).toISOString(),
        unit: /^lintel[\w-]*\.(service|timer)$/.test(unit) ? unit : "",
        priority: String(PRIORITY ?? ""),
        // A text that is no UTF-8 comes as bytes.
        text: typeof MESSAGE === "string" ? MESSAGE : Buffer.from(MESSAGE ?? []).toString("utf8"),
      };
    });
}

/** The last lines of a file, oldest first. */
export function lastLinesOf(text: string): string[] {
  return text.trimEnd().split("\n").slice(-lines_max);
}

function printed(program: string, words: readonly string[]): string | undefined {
  if (Bun.which(program) === null) return undefined;
  const run = Bun.spawnSync([program, ...words], { stderr: "ignore", timeout: ms_max, maxBuffer: bytes_max });
  return run.exitCode === 0 ? run.stdout.toString() : undefined;
}

const properties =
  "Id,LoadState,UnitFileState,ActiveState,SubState,Result,NRestarts,ExecMainCode,ExecMainStatus,ActiveEnterTimestamp,InactiveEnterTimestamp,MemoryCurrent";
const lines_max = 2_000;
const ms_max = 20_000;
const bytes_max = 32 * 1024 * 1024;
