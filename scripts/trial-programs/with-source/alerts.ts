/**
 * Mails about homes: a simulated month with planted troubles, a server of mail that refuses, keeps silent and comes back, and a central that is killed
 *
 *   ./scripts/trials alerts [--homes 500] [--troubles 60] [--kills 20] [--seed 1]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { day_ms, hour_ms, localTime } from "../../../src/base/time.ts";
import type { AlertRecipient, AlertSettings } from "../../../src/config/alert-settings.ts";
import { fleetNeeds } from "../../../src/domain/fleet-home.ts";
import { linesOf } from "../../../testbed/lines.ts";
import { MailServer } from "../../../testbed/mail-server.ts";
import { seeded } from "../../../testbed/numbers.ts";
import { optionsOf } from "../../program-options.ts";
import { markOf, needyAt, plant, type Trouble } from "./alerts/troubles.ts";

const { homes, troubles, kills, seed } = optionsOf(
  "./scripts/trials alerts [--homes 500] [--troubles 60] [--kills 20] [--seed 1]",
  { homes: 500, troubles: 60, kills: 20, seed: 1 },
);
const random = seeded(seed);
const start_ms = Date.UTC(2026, 9, 10);
const end_ms = start_ms + 30 * day_ms;
const step_ms = 15 * 60_000;

const west = Array.from({ length: homes / 2 }, (_, place) => place + 1);
const east = Array.from({ length: homes / 2 }, (_, place) => homes / 2 + place + 1);
const night = { quiet: { from: "20:00", to: "08:00" }, digest: "08:30" };
const recipients: AlertRecipient[] = [
  { ...night, to: "west@example.org", duties: ["field"], homes: west, timezone: "America/Los_Angeles" },
  { ...night, to: "east@example.org", duties: ["field"], homes: east, timezone: "Europe/Berlin" },
  { ...night, to: "data@example.org", duties: ["data"], timezone: "Europe/Berlin" },
  { ...night, to: "lead@example.org", duties: ["lead", "server"], timezone: "Europe/Berlin" },
];

const directory = mkdtempSync(join(tmpdir(), "lintel-alerts-"));
const server = await MailServer.start();
const settings: AlertSettings = {
  ...{ url: "https://central.example", directory: join(directory, "alerts"), recipients, warnings: [] },
  smtp: { url: server.url, from: "lintel@example.org" },
};

function startMailing() {
  const program = join(import.meta.dir, "alerts/mailing.ts");
  const child = Bun.spawn([process.execPath, program, JSON.stringify(settings)], {
    ...{ stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  });
  return { child, lines: linesOf(child.stdout) };
}

const planted = plant({ homes, troubles, from_ms: start_ms, to_ms: end_ms, random });
let { child, lines } = startMailing();
/** When the mails were received, by the time of the simulated world. */
const received_ms: number[] = [];
let killed = 0;
for (let now_ms = start_ms; now_ms < end_ms; now_ms += step_ms) {
  const before = server.mails.length;
  const isKilled = killed < kills && random() < 0.02;
  const chance = random();
  // A server that keeps silent is ended by the kill: its timeout is of the real world.
  if (isKilled && chance < 0.5) server.refusals.push("silence");
  else if (!isKilled && chance < 0.01 && server.refusals.length === 0)
    server.refusals.push(...Array(1 + Math.floor(random() * 12)).fill(451));
  child.stdin.write(`${JSON.stringify({ now_ms, needy: needyAt(planted, now_ms) })}\n`);
  const done = lines.next();
  if (isKilled) {
    await (chance < 0.5 ? Promise.race([server.refused(), done]) : Bun.sleep(random() * 30));
    child.kill("SIGKILL");
    await child.exited;
    killed += 1;
    ({ child, lines } = startMailing());
  } else await done;
  while (received_ms.length < server.mails.length) received_ms.push(now_ms);
  if (server.mails.length - before > recipients.length) throw new Error("more mails than recipients at once");
  server.refusals.splice(0, server.refusals.filter((one) => one === "silence").length);
}
child.kill();
await server.stop();
rmSync(directory, { recursive: true, force: true });

const faults: string[] = [];
const seen = new Set<string>();
let repeated = 0;
const heard = new Map<string, { to: string; at_ms: number }[]>();
for (const [place, { to, subject, messageId, text }] of server.mails.entries()) {
  const at_ms = received_ms[place] ?? 0;
  const recipient = recipients.find((one) => one.to === to) as AlertRecipient;
  const time = localTime(recipient.timezone, at_ms);
  if (time >= recipient.quiet.from || time < recipient.quiet.to)
    faults.push(`${to} got "${subject}" at ${time}, in quiet hours`);
  if (seen.has(messageId)) {
    repeated += 1;
    continue;
  }
  seen.add(messageId);
  const [told = ""] = text.split(/^(?:Over since the last digest|Still open):$/m);
  if (subject.includes("not acknowledged")) continue;
  for (const trouble of planted)
    if (told.includes(markOf(trouble))) {
      const all = heard.get(markOf(trouble)) ?? [];
      heard.set(markOf(trouble), [...all, { to, at_ms }]);
    }
}
for (const trouble of planted) faults.push(...faultsOf(trouble));

function faultsOf(trouble: Trouble): string[] {
  const { level, duty, after_h } = fleetNeeds[trouble.need];
  const times = heard.get(markOf(trouble)) ?? [];
  const name = `${trouble.need} of home ${trouble.home}`;
  if (trouble.short) return times.length === 0 ? [] : [`${name} ended early, and was told`];
  const [first, ...more] = times;
  if (first === undefined) return [`${name} was never told`];
  const to = {
    field: west.includes(trouble.home) ? "west" : "east",
    data: "data",
    server: "lead",
    lead: "lead",
  };
  // A night or a day until the digest; then twelve refusals, which may go on over another night.
  const late_h = after_h + (level === "digest" ? 24 : 12) + 24;
  return [
    ...(more.length === 0 ? [] : [`${name} was told ${times.length} times`]),
    ...(first.to === `${to[duty]}@example.org` ? [] : [`${name} was told to ${first.to}`]),
    ...(first.at_ms - trouble.from_ms <= late_h * hour_ms
      ? []
      : [
          `${name} was told after ${((first.at_ms - trouble.from_ms) / hour_ms).toFixed(1)} h, at ${new Date(first.at_ms).toISOString()}`,
        ]),
  ];
}

const told = planted.filter(({ short }) => !short).length;
console.log(
  `${homes} homes, 30 days, seed ${seed}: ${planted.length} troubles, ${told} to be told; ${server.mails.length} mails, ${repeated} twice; central killed ${killed} times; ${faults.length} faults`,
);
for (const fault of faults) console.log(fault);
process.exit(faults.length === 0 ? 0 : 1);
