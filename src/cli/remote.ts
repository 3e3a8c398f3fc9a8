import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { type Command, InvalidArgumentError } from "commander";
import { privateKeyIn, publicKeyText } from "../base/ed25519.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import { decodeJson, readAtMost } from "../base/json-decoder.ts";
import { nearest, plainLine } from "../base/text.ts";
import {
  argumentFault,
  remote_valid_ms_max,
  remoteRequestNames,
  remoteRequests,
  remoteRow,
  SignedRequest,
  signRequest,
} from "../domain/remote-request.ts";
import { remoteEntriesIn } from "../gateway/remote/remote-journal.ts";
import type { CentralStore, RemoteAnswer, RemoteAsked } from "../store/central/central-store.ts";
import { storedRole } from "../store/sqlite/role-and-epoch.ts";
import { pause } from "../web/client/http-request.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { interruptible } from "./progress.ts";
import { addStoreOptions, type StoreOptions, storePlace } from "./store-place.ts";
import { momentText, parseSpan_ms } from "./terminal-text.ts";
import { withCentralStore } from "./with-store.ts";

/** `lintel remote`: asks a box for one of a fixed list of things, through central, by a key that is not there. */
export function define(command: Command, context: CommandContext): void {
  const key = command
    .command("key <file>")
    .description("make the key that signs requests; keep it away from central");
  key
    .option("--json", "print {file, key} as JSON")
    .action((file: string, options: { json?: boolean }) => makeKey(file, options, context));

  const sign = command
    .command("sign <home> <request> [argument]")
    .description("sign a request to the box of a home, on the machine that has the key");
  addHelp(sign, {
    examples: {
      "lintel remote sign 12 fault-report --key study.key": "prints one line, for lintel remote send",
      "lintel remote sign 12 open-joining 10 --key study.key --for 1h": "valid for an hour",
    },
    notes: remoteRequestNames.map((name) => `${usageOf(name)}: the box ${remoteRequests[name].does}.`),
  });
  sign
    .requiredOption("--key <file>", "the key that lintel remote key has made")
    .option(
      "--for <span>",
      "how long the box may take it: 5min, 1h, a day at most (default: 15min)",
      validity,
    )
    .action((home: string, request: string, argument: string | undefined, options: SignOptions) =>
      signOne({ home, request, argument }, options, context),
    );

  const send = command
    .command("send [file]")
    .description(
      "at central: hand signed requests, from a file or the standard input, to their boxes, and wait for the answers",
    );
  addHelp(send, {
    examples: {
      "lintel remote sign 12 status --key study.key | ssh central sudo -u lintel-central lintel remote send --data /var/lib/lintel-central":
        "signed here, handed on there",
    },
    exits: { 0: "every box has done it", 1: "one has refused, failed, or not answered" },
  });
  addStoreOptions(send)
    .option("--json", "print each answer as one JSON object")
    .action((file: string | undefined, options: StoreOptions) => sendAll(file, options, context));

  const list = command.command("list").description("what a box was asked for, and how that ended");
  addStoreOptions(list)
    .option("--home <id>", "the home, at central", wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option("--json", "print them as a JSON array, at central with what was sent")
    .action((options: ListOptions) => listAsked(options, context));

  addHelp(command, {
    examples: {
      "lintel remote key study.key": "once; [remote] keys of each box gets what it prints",
      "lintel remote list --home 12 --data /var/lib/lintel-central": "the last hundred requests",
    },
    notes: ["docs/remote.md says who signs, what a box refuses, and what the family sees."],
  });
}

function makeKey(file: string, { json }: { json?: boolean }, { terminal }: CommandContext): void {
  const { privateKey } = generateKeyPairSync("ed25519");
  try {
    writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), { flag: "wx", mode: 0o600 });
  } catch (thrown) {
    throw new OperatorError(
      `cannot write ${file} (${messageOf(thrown)})`,
      "name a file that is not there yet",
    );
  }
  const key = publicKeyText(privateKey);
  if (json) {
    terminal.printJson({ file: resolve(file), key });
    return;
  }
  terminal.print(`[remote]\nallow = ["status", "fault-report"]\nkeys = ["${key}"]`);
  terminal.say(`Put this into the configuration of each box. Keep ${file} on a stick, and never on central.`);
}

interface SignOptions {
  readonly key: string;
  readonly for?: number;
}

function signOne(
  given: { home: string; request: string; argument: string | undefined },
  options: SignOptions,
  { terminal, clock }: CommandContext,
): void {
  const home = wholeNumber(1, Number.MAX_SAFE_INTEGER)(given.home);
  const { request, argument } = given;
  const row = remoteRow(request);
  if (row === undefined) {
    const near = nearest(request, remoteRequestNames);
    throw new OperatorError(
      `there is no request ${request}`,
      near === undefined ? `there are ${remoteRequestNames.join(", ")}` : `did you mean ${near}?`,
    );
  }
  const fault = argumentFault(row, argument);
  if (fault !== undefined)
    throw new OperatorError(
      `${request} ${fault}`,
      `lintel remote sign ${home} ${usageOf(request)} --key FILE`,
    );
  const now_ms = clock.now().unix_ms;
  const signed = signRequest(
    {
      home,
      number: now_ms,
      expires_ms: now_ms + (options.for ?? default_valid_ms),
      request,
      ...(argument !== undefined && { argument }),
    },
    keyIn(options.key),
  );
  terminal.printJson(signed);
}

function usageOf(name: string): string {
  const argument = remoteRow(name)?.argument;
  return argument === undefined ? name : `${name} ${argument.name.toUpperCase()}`;
}

function keyIn(file: string): KeyObject {
  try {
    return privateKeyIn(readFileSync(file, "utf8"));
  } catch (thrown) {
    throw new OperatorError(
      `${file} holds no key of Ed25519 (${messageOf(thrown)})`,
      "lintel remote key makes one",
    );
  }
}

async function sendAll(
  file: string | undefined,
  options: StoreOptions,
  context: CommandContext,
): Promise<void> {
  const { terminal, clock } = context;
  const requests = await requestsIn(file === undefined ? Bun.stdin : Bun.file(file));
  const asked_by = process.env["SUDO_USER"] ?? userInfo().username;
  const interrupted =
    "Interrupted: the boxes get what was handed on, and lintel remote list shows what they answer.";
  const answered = await interruptible(context, { interrupted, later: { error: terminal.say } }, (stop) =>
    withCentralStore(options, context, async (store) => {
      for (const request of requests)
        await store.askRemote({ request, asked_by, asked_ms: clock.now().unix_ms });
      return Promise.all(requests.map((request) => answerTo(request, store, context, stop)));
    }),
  );
  if (answered === undefined) return;
  for (const [place, answer] of answered.entries()) {
    const { home, request, number } = requests[place] as SignedRequest;
    if (options.json) terminal.printJson({ home, request, number, ...(answer ?? { outcome: "unanswered" }) });
    else {
      if (answer?.answer !== undefined)
        for (const line of answer.answer.split("\n")) terminal.print(plainLine(line));
      terminal.say(
        `home ${home}, ${request}: ${answer === undefined ? "no answer until it expired" : `${answer.outcome}, ${answer.words}`}`,
      );
    }
  }
  if (answered.some((answer) => answer?.outcome !== "done")) context.exitWith(1);
}

/** Waits until a box has answered, or can no longer. */
async function answerTo(
  { home, number, expires_ms }: SignedRequest,
  store: CentralStore,
  { clock }: CommandContext,
  stop: AbortSignal,
): Promise<RemoteAnswer | undefined> {
  for (;;) {
    stop.throwIfAborted();
    const asked = await store.remoteAsked({ home });
    const answered = asked.find(({ request }) => request.number === number)?.answered;
    if (answered !== undefined || clock.now().unix_ms > expires_ms) return answered;
    await pause(look_ms, clock, stop);
  }
}

async function requestsIn(from: Bun.BunFile): Promise<SignedRequest[]> {
  const fault = (what: string) =>
    new OperatorError(
      `what is to be sent is no signed request (${what})`,
      "give it what lintel remote sign prints",
    );
  let text: string;
  try {
    text = new TextDecoder().decode(await readAtMost(from.stream().getReader(), input_bounds.bytes_max));
  } catch (thrown) {
    throw fault(messageOf(thrown));
  }
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw fault("it is empty");
  return lines.map((line) => {
    try {
      const request = decodeJson(new TextEncoder().encode(line), input_bounds);
      if (Value.Check(SignedRequest, request)) return request;
    } catch (thrown) {
      throw fault(messageOf(thrown));
    }
    throw fault("it has other fields");
  });
}

interface ListOptions extends StoreOptions {
  readonly home?: number;
}

async function listAsked(options: ListOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const place = storePlace(options);
  if ("directory" in place && storedRole(place.directory) === "gateway") {
    const entries = remoteEntriesIn(place.directory);
    if (options.json) terminal.printJson(entries);
    else
      for (const { at_ms, request, argument = "", outcome = "under way", words = "" } of entries)
        terminal.print(lineOf({ at_ms, request, argument, outcome, words }));
    return;
  }
  const { home } = options;
  if (home === undefined)
    throw new OperatorError("central has many homes, and the command names none", "give --home NUMBER");
  const asked = await withCentralStore(options, context, (store) => store.remoteAsked({ home }));
  if (options.json) terminal.printJson(asked);
  else for (const one of asked) terminal.print(lineOf(shownOf(one)));
}

function shownOf({ request: { request, argument = "" }, asked_by, asked_ms, answered }: RemoteAsked) {
  const { outcome = "waits", words = "" } = answered ?? {};
  return { at_ms: asked_ms, request, argument, outcome, words: `${words} (asked by ${asked_by})`.trim() };
}

function lineOf(shown: {
  at_ms: number;
  request: string;
  argument: string;
  outcome: string;
  words: string;
}): string {
  const { at_ms, request, argument, outcome, words } = shown;
  return `${momentText(at_ms)}  ${`${request} ${argument}`.trim()}: ${[outcome, words].filter(Boolean).join(", ")}`;
}

function validity(text: string): number {
  const span_ms = parseSpan_ms(text);
  if (span_ms !== undefined && span_ms <= remote_valid_ms_max) return span_ms;
  throw new InvalidArgumentError("It must be a time such as 5min or 1h, and a day at most.");
}

/** A person waits for the answer; a box that is asleep or away is asked again. */
const default_valid_ms = 15 * 60_000;
const look_ms = 1_000;
const input_bounds = { bytes_max: 65_536, values_max: 1_000, numbers_max: 1_000 };
