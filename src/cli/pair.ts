import { fstatSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { messageOf } from "../base/errors.ts";
import { ControlClient } from "../gateway/control-client.ts";
import { type JoiningStep, joining_seconds_max, type PairingAbility } from "../gateway/joining/joining.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { addDirectoryOptions, dataDirectory, type StoreOptions } from "./store-place.ts";
import type { Terminal } from "./terminal.ts";

/** `lintel pair`: lets new devices in, and shows each as it joins. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel pair": "two minutes, then put each sensor into its pairing mode",
      "lintel pair --seconds 30 --json": "for a script",
    },
    notes: [
      "A Bluetooth device may ask for six digits: they are shown or typed here, within 30 s.",
      "The gateway must be running. Waits for an adapter that is starting. Ctrl-C closes joining before its time is over.",
    ],
    exits: { 0: "joining was open and is closed again" },
  });
  addDirectoryOptions(command)
    .option(
      "--seconds <n>",
      `how long joining stays open, at most ${joining_seconds_max}`,
      wholeNumber(1, joining_seconds_max),
      120,
    )
    .option(
      "--new-network",
      "have a Zigbee adapter that holds another network give it up for a new one: all its sensors must be paired again",
    )
    .option("--json", "print a line of JSON when joining is open, for each device, and at the end")
    .action((options: PairOptions) => pair(options, context));
}

interface PairOptions extends StoreOptions {
  readonly seconds: number;
  readonly newNetwork?: boolean;
}

async function pair(options: PairOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const client = new ControlClient(dataDirectory(options));
  let interrupts = 0;
  const interrupt = () => {
    interrupts++;
    if (interrupts > 1) process.exit(130);
    // The gateway answers with the last step, which ends the loop below.
    client.closeJoining().catch(() => process.exit(130));
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  let stopCountdown = () => {};
  let stopTyping = () => {};
  try {
    for await (const step of client.joining(options.seconds, { ...options, person: abilityHere() })) {
      if (step.state === "open") stopCountdown = countDown(step.seconds, context);
      if (step.state === "types" || step.state === "compares") {
        stopTyping();
        stopTyping = answerBy(client, context);
      }
      // Scripts wait for joining to open, and for how it went with a device that has begun to join.
      if (!options.json) terminal.print(lineOfStep(step, terminal));
      else if (step.state === "waiting") terminal.say(lineOfStep(step, terminal));
      else if (step.state !== "started") terminal.printJson(step);
    }
  } finally {
    stopCountdown();
    stopTyping();
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

/** Abilities of the person here: to type where a terminal or a script types into this, and to read where a terminal shows it. */
function abilityHere(): PairingAbility | undefined {
  const input = fstatSync(0);
  if (process.stdin.isTTY || input.isFIFO() || input.isSocket()) return "types";
  return process.stdout.isTTY ? "reads" : undefined;
}

/** Hands the next line that is typed to the gateway. Answers how to read no more. */
function answerBy(client: ControlClient, { terminal }: CommandContext): () => void {
  const lines = createInterface({ input: process.stdin });
  lines.once("line", (line) => {
    client.answerJoining(line).catch((error) => terminal.say(messageOf(error)));
  });
  return () => {
    lines.close();
    process.stdin.unref();
  };
}

function lineOfStep(step: JoiningStep, { colours }: Terminal): string {
  switch (step.state) {
    case "waiting":
      return `Waiting for the ${step.drivers.join(" and the ")} adapter, which is starting.`;
    case "open":
      return [
        ...(step.problems ?? []).map((problem) => colours.yellow(`! not through ${problem}`)),
        `Joining is open for ${step.seconds} s: put each device into its pairing mode, or use it. Ctrl-C closes.`,
      ].join("\n");
    case "started":
      return `${colours.dim("…")} ${step.address} is joining`;
    case "reads":
      return `${colours.yellow("?")} ${step.address}: type ${step.digits} at the device`;
    case "types":
      return `${colours.yellow("?")} ${step.address}: type the six digits that it shows, then Enter`;
    case "compares":
      return `${colours.yellow("?")} ${step.address}: does it show ${step.digits}? Type yes or no, then Enter`;
    case "joined": {
      const about = [step.vendor, step.model, step.subtype].filter((word) => word !== undefined).join(" ");
      return `${colours.green("✓")} ${step.address} joined${about === "" ? "" : `: ${about}`}`;
    }
    case "bonded":
      return `${colours.green("✓")} ${step.address} is bonded: both keep the keys`;
    case "failed":
      return `${colours.red("✗")} ${step.address} could not join (${step.reason}): ${step.remedy}`;
    case "closed":
      return `Joining is closed: ${step.joined} joined, ${step.failed} failed.`;
  }
}

/** Shows the seconds that are left at the foot of a terminal. Answers how to take them away. */
function countDown(seconds: number, { terminal, clock }: CommandContext): () => void {
  const end_ms = clock.now().monotonic_ms + seconds * 1000;
  let cancel = () => {};
  const tick = () => {
    const left_s = Math.max(0, Math.ceil((end_ms - clock.now().monotonic_ms) / 1000));
    terminal.progress(terminal.errorColours.dim(`${left_s} s left`));
    cancel = clock.after(1000, tick);
  };
  tick();
  return () => {
    cancel();
    terminal.progress("");
  };
}
