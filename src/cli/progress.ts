import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { expectedBytes, type Progress } from "../export/receiving.ts";
import type { Format } from "../export/table-file.ts";
import type { UploadProgress } from "../gateway/uploader/upload.ts";
import type { MoveProgress } from "../store/move/move.ts";
import { TryAgainLater } from "../web/client/http-request.ts";
import type { CommandContext } from "./command.ts";
import type { Terminal } from "./terminal.ts";
import { bytesText, spanText } from "./terminal-text.ts";

/**
 * Draws a bar at the foot of a terminal, with the percentage and `words` behind it; nothing in a pipe. On a narrow terminal the words
 * come first.
 */
export function drawBar(
  terminal: Pick<Terminal, "columns" | "progress">,
  { done, total, words }: { readonly done: number; readonly total: number; readonly words: string },
): void {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const text = `${String(Math.floor(share * 100)).padStart(3)} %  ${words}`;
  const left = terminal.columns - Bun.stringWidth(text) - 1;
  const columns = Math.min(bar_columns_max, Math.max(bar_columns_min, left));
  const filled = Math.round(share * columns);
  terminal.progress(`${"█".repeat(filled)}${"░".repeat(columns - filled)} ${text}`);
}

/** Draws a bar for work that is measured in bytes. */
export function drawBytes(terminal: Terminal, done: number, total: number, step = ""): void {
  drawBar(terminal, { done, total, words: `${step} ${bytesText(done)} of ${bytesText(total)}`.trim() });
}

/** Shows how far an upload is: a bar at the foot of a terminal, a line of the log now and then elsewhere. */
export function uploadMeter(options: {
  terminal: Terminal;
  clock: Clock;
  log: Log;
}): (progress: UploadProgress) => void {
  const { terminal, clock, log } = options;
  const started_ms = clock.now().monotonic_ms;
  let said_ms = started_ms;
  return ({ sent, total, now }) => {
    const now_ms = clock.now().monotonic_ms;
    const per_s = (sent * 1000) / Math.max(1, now_ms - started_ms);
    const left = sent === 0 || sent >= total ? "" : `, ${spanText(((total - sent) * 1000) / per_s)} left`;
    const pace = now === "sending" ? `${Math.round(per_s)} readings a second${left}` : now;
    if (terminal.redraws) drawBar(terminal, { done: sent, total, words: `${sent} readings  ${pace}` });
    else if (now_ms - said_ms >= log_interval_ms) {
      said_ms = now_ms;
      log.info(now === "sending" ? `sent ${sent} of ${total} readings, ${pace}` : now);
    }
  };
}

/** Shows how far the move of a store is: a bar at the foot of a terminal, a line now and then elsewhere. Rate and time left are those of this run. */
export function moveMeter(terminal: Terminal, clock: Clock): (progress: MoveProgress) => void {
  const started_ms = clock.now().monotonic_ms;
  let said_ms = started_ms;
  let before: MoveProgress | undefined;
  return (progress) => {
    before ??= progress;
    const { copied, compared, total } = progress;
    const now_ms = clock.now().monotonic_ms;
    const elapsed_ms = Math.max(1, now_ms - started_ms);
    const done = copied + compared;
    const now_done = done - before.copied - before.compared;
    const left = now_done === 0 ? "" : `, ${spanText(((2 * total - done) * elapsed_ms) / now_done)} left`;
    const per_s = Math.round(((copied - before.copied) * 1000) / elapsed_ms);
    const words = `${copied} of ${total} readings, ${compared} compared, ${per_s} a second${left}`;
    if (now_ms - said_ms < (terminal.redraws ? draw_interval_ms : line_interval_ms)) return;
    said_ms = now_ms;
    if (terminal.redraws) drawBar(terminal, { done, total: 2 * total, words });
    else terminal.say(words);
  };
}

/**
 * Shows how far a download is, with the time left: a bar at the foot of a terminal, and a line every few seconds in a pipe. First it says how much there
 * is to receive, once the server has told that.
 *
 * @param elapsed_ms since it began
 */
export function downloadMeter(
  terminal: Terminal,
  elapsed_ms: () => number,
  format: Format,
): (progress: Progress) => void {
  let said_ms = 0;
  let began_ms: number | undefined;
  return (progress) => {
    const now_ms = elapsed_ms();
    const { done, total, received, expected, months, months_expected, now } = progress;
    if (began_ms === undefined) {
      began_ms = now_ms;
      const parts = [
        ...(expected > 0 ? [`${expected} readings`] : []),
        ...(months_expected > 0 ? [`measures of ${months_expected} months of homes`] : []),
      ];
      const size = bytesText(expectedBytes(progress, format));
      if (parts.length > 0)
        terminal.say(`To receive: ${parts.join(", and ")}. They take about ${size} on the disk.`);
    }
    const spent_ms = now_ms - began_ms;
    // Both are received beside each other: the later one ends the download.
    const shareOf = (part: number, all: number) => (all === 0 ? [] : [part / all]);
    const shares = [...shareOf(received, expected), ...shareOf(months, months_expected)];
    const share = Math.min(1, ...(shares.length > 0 ? shares : shareOf(done, total)));
    const left =
      spent_ms < estimated_after_ms || share === 0 || share === 1
        ? ""
        : `, about ${spanText(spent_ms / share - spent_ms)} left`;
    const of = (part: number, all: number, name: string) =>
      all === 0 ? [] : [`${Math.min(part, all)} of ${all} ${name}`];
    const words = [
      ...of(done, total, "series of items"),
      ...of(received, expected, "readings"),
      ...of(months, months_expected, "months of measures"),
    ].join(", ");
    if (terminal.redraws) drawBar(terminal, { done: share, total: 1, words: `${words}${left}, ${now}` });
    else if (now_ms - said_ms >= line_interval_ms) {
      said_ms = now_ms;
      terminal.say(`${words}${left}, ${now}`);
    }
  };
}

const bar_columns_min = 5;
const bar_columns_max = 30;
const log_interval_ms = 30_000;
const line_interval_ms = 5_000;
/** The first answers of a server are slower than the later ones. */
const estimated_after_ms = 2_000;
const draw_interval_ms = 200;

/**
 * Runs work that SIGINT and SIGTERM can stop: the signal aborts, and the work ends where it leaves its data in order. A second signal ends
 * the process at once. Takes the work's progress from the foot of the terminal in the end.
 *
 * @param options.interrupted printed, with exit code 130, when the work was stopped
 * @param options.later log for a failure that passes by itself, with exit code 1; absent: such a failure is thrown
 * @returns undefined when the work was stopped, or failed for now
 */
export async function interruptible<Result>(
  context: CommandContext,
  { interrupted, later }: { readonly interrupted: string; readonly later?: Pick<Log, "error"> },
  work: (stop: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const stop = new AbortController();
  const interrupt = () => {
    if (stop.signal.aborted) process.exit(exit_interrupted);
    stop.abort(new Error("interrupted"));
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    return await work(stop.signal);
  } catch (thrown) {
    const stopped = stop.signal.aborted && thrown === stop.signal.reason;
    if (!stopped && !(later !== undefined && thrown instanceof TryAgainLater)) throw thrown;
    if (stopped) context.terminal.say(interrupted);
    else later?.error(messageOf(thrown, line_max));
    context.exitWith(stopped ? exit_interrupted : exit_later);
    return undefined;
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
    context.terminal.progress("");
  }
}

const exit_interrupted = 130;
const exit_later = 1;
const line_max = 2_000;
