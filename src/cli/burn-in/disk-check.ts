import { readlinkSync } from "node:fs";
import { OperatorError } from "../../base/errors.ts";
import { type Bench, type BurnInFinding, blocksPath, pause } from "./bench.ts";
import { BlockFile, blockOf, blocks_max, codeOf, parseCode } from "./blocks.ts";

type DiskBench = Pick<Bench, "directory" | "clock" | "terminal" | "asker" | "state" | "stop" | "keep">;

/** Power cuts. Of a disk that loses one block in a thousand for good, so many blocks miss it once in twenty thousand times. */
const rounds = 5;
/** Blocks before the plug is to be pulled. */
const blocks_before_pull = 2_000;
/** Then a block now and then, so that the screen keeps up: its last number is the last that the disk acknowledged. */
const pace_ms = 20;
/** Flushes by which the usual time of one is known, of which a hundredth may be lies. */
const learned_flushes = 1_000;
/** A flush that takes less than this share of the quickest usual one is suspected to be a lie. */
const suspected_share = 0.5;
/** How long the box holds still for the technician. */
const hold_max_ms = 5 * 60_000;

/**
 * Whether the disk has, after a power cut, every block that it acknowledged. The screen of another computer is the witness of the last number: the box
 * cannot know what it forgot. In even rounds the box stops at a flush that was suspiciously quick, and has the plug pulled then: a disk that lies
 * now and then lies at that block, and at the next honest flush it would have made good.
 *
 * Where all has been well, the only end before the last round is that of the power.
 *
 * @throws OperatorError where nobody pulled the plug
 */
export async function checkDisk(bench: DiskBench): Promise<BurnInFinding> {
  requireOtherScreen();
  const lost = await judgeCut(bench);
  if (lost !== undefined) return { outcome: "failed", found: lost };
  const { passed, blocks } = bench.state.disk;
  if (passed < rounds) return writeRound(bench, passed + 1);
  const found = `After ${rounds} power cuts the disk had all ${count(blocks)} blocks that it had acknowledged.`;
  return { outcome: "passed", found };
}

/** The finding of a technician's number from before a power cut that the disk remembers nothing of. */
export function forgottenFinding(code: NonNullable<ReturnType<typeof parseCode>>): BurnInFinding {
  const found = `After the power cut of round ${code.round} the disk knew nothing of this burn-in: it forgot ${count(code.number)} blocks that it had acknowledged, and all before.`;
  return { outcome: "failed", found };
}

/** Judges the round that was open at the power cut. Answers what was lost; undefined where nothing was, or where there was no cut. */
async function judgeCut(bench: DiskBench): Promise<string | undefined> {
  const { state, terminal, clock, asker } = bench;
  const { disk, run } = state;
  if (disk.open === undefined) return undefined;
  const round = disk.passed + 1;
  if (disk.open.stopped || disk.open.boot === clock.boot) {
    terminal.print(`Round ${round} ended without a power cut. It begins again.`);
    return undefined;
  }
  const read = (text: string) => {
    if (text === "") return null;
    const code = parseCode(text);
    if (code === undefined)
      return { why: "that is no number of the screen: type all of it, such as 2-1234-KT" };
    return code.round < round ? { why: `that is of round ${code.round}, which has passed` } : code;
  };
  const code = await asker.ask("Which number stood last on the screen? (Enter: none)", read);
  if (code === null) return undefined;
  if (code.round > round)
    return `After the power cut of round ${code.round} the disk was at round ${round} again: it forgot more than a round that it had acknowledged.`;
  await using file = await BlockFile.open(blocksPath(bench.directory));
  const missing = await file.missing(run, round, code.number);
  if (missing.length > 0) return lostText(round, code.number, missing);
  bench.keep({ disk: { passed: round, blocks: disk.blocks + code.number } });
  terminal.print(`Round ${round} of ${rounds}: all ${count(code.number)} blocks are there.`);
  return undefined;
}

function lostText(round: number, through: number, missing: readonly number[]): string {
  const begin = `After the power cut of round ${round} the disk lacked`;
  const of = `${count(through)} blocks that it had acknowledged`;
  if (missing[0] === through - missing.length + 1)
    return `${begin} the last ${count(missing.length)} of ${of}.`;
  const shown = missing.slice(0, shown_max).join(", ");
  const more = missing.length > shown_max ? ", …" : "";
  return `${begin} ${count(missing.length)} of ${of} (number ${shown}${more}), and had later ones.`;
}

/** Writes blocks until the power goes. @throws OperatorError where it does not */
async function writeRound(bench: DiskBench, round: number): Promise<never> {
  const { clock, terminal, state, stop } = bench;
  const { bold } = terminal.colours;
  const now_ms = () => clock.now().monotonic_ms;
  const open = { boot: clock.boot, stopped: false };
  const isSuspected = quickFlushes(round);
  await using file = await BlockFile.open(blocksPath(bench.directory));
  bench.keep({ disk: { ...state.disk, open } });
  terminal.print(bold(`Round ${round} of ${rounds}: wait until the box asks for the plug.`));
  try {
    for (let number = 1; number <= blocks_max; number++) {
      stop.throwIfAborted();
      const took_ms = await file.write(number, blockOf(state.run, round, number), now_ms);
      show(bench, codeOf(round, number));
      if (isSuspected(took_ms)) {
        terminal.print(bold(`Pull the plug of the box now. ${restart}`));
        await pause(bench, hold_max_ms);
        break;
      }
      if (number === blocks_before_pull)
        terminal.print(bold(`Pull the plug of the box now, while the numbers run. ${restart}`));
      if (number > blocks_before_pull) await pause(bench, pace_ms);
    }
    throw new OperatorError(`nobody pulled the plug in round ${round}`, "run lintel burn-in again");
  } finally {
    bench.keep({ disk: { ...state.disk, open: { ...open, stopped: true } } });
  }
}

const restart = "Leave the last number on the screen. Plug in again, log in, and run lintel burn-in.";

/** Tells of each flush of a round whether it is so quick that it may be a lie at which the round should end. */
function quickFlushes(round: number): (took_ms: number) => boolean {
  const learned: number[] = [];
  let least_ms = 0;
  return (took_ms) => {
    if (round % 2 === 1) return false;
    if (learned.length === learned_flushes) return took_ms < least_ms;
    learned.push(took_ms);
    if (learned.length === learned_flushes) {
      const sorted = learned.toSorted((one, other) => one - other);
      least_ms = (sorted[learned_flushes / 100] ?? 0) * suspected_share;
    }
    return false;
  };
}

function show({ terminal }: DiskBench, code: string): void {
  if (terminal.redraws) terminal.progress(`on disk: ${code}`);
  else terminal.print(`on disk: ${code}`);
}

/** A screen of the box itself goes dark with it. @throws OperatorError */
function requireOtherScreen(): void {
  if (!process.stdout.isTTY || !/^\/dev\/(tty\d+|console)$/.test(readlinkSync("/proc/self/fd/1"))) return;
  throw new OperatorError(
    "this screen goes dark when the plug is pulled, and the last number with it",
    "log in from another computer by ssh, and run lintel burn-in there",
  );
}

function count(number: number): string {
  return number.toLocaleString("en");
}

/** Numbers of lost blocks that a finding names. */
const shown_max = 5;
