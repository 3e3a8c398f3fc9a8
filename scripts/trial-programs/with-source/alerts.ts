/**
 * Alerts about homes: a simulated month of a real central with planted troubles, a server of mail and webhooks that fail, hang and come back, and kills
 *
 *   ./scripts/trials alerts [--homes 500] [--troubles 60] [--kills 20] [--days 30] [--seed 1]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { day_ms } from "../../../src/base/time.ts";
import { mintToken } from "../../../src/domain/token.ts";
import { openCentralStore } from "../../../src/store/sqlite/open-central.ts";
import { MailServer } from "../../../testbed/mail-server.ts";
import { seeded } from "../../../testbed/numbers.ts";
import { keptLog } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { WebhookReceiver } from "../../../testbed/webhook-receiver.ts";
import { figuresText } from "../../figures.ts";
import { optionsOf } from "../../program-options.ts";
import { judge } from "./alerts/judging.ts";
import { inCalls, inMails, recipientsOf, settingsText } from "./alerts/recipients.ts";
import { SteeredCentral } from "./alerts/steering.ts";
import { isThere, plant, reportAfter, reportOf, unreported } from "./alerts/troubles.ts";

const { homes, troubles, kills, days, seed } = optionsOf(
  "./scripts/trials alerts [--homes 500] [--troubles 60] [--kills 20] [--days 30] [--seed 1]",
  { homes: 500, troubles: 60, kills: 20, days: 30, seed: 1 },
);
const random = seeded(seed);
const begun_ms = Date.UTC(2026, 9, 10);
const end_ms = begun_ms + days * day_ms;
/** Central looks at its homes every quarter of an hour, and then once in a step. */
const step_ms = 30 * 60_000;

const directory = mkdtempSync(join(tmpdir(), "lintel-alerts-"));
const mail = await MailServer.start();
const hooks = { desk: new WebhookReceiver(), tickets: new WebhookReceiver() };
const recipients = recipientsOf(homes);
for (const [name, { secret }] of Object.entries(hooks))
  writeFileSync(join(directory, name), secret, { mode: 0o600 });
const file = join(directory, "alerts.toml");
writeFileSync(
  file,
  settingsText(recipients, { mail: mail.url, hooks: { desk: hooks.desk.url, tickets: hooks.tickets.url } }),
);

const planted = plant({ homes, troubles, from_ms: begun_ms, to_ms: end_ms, random });
const troubleOf = new Map(planted.map((trouble) => [trouble.home, trouble]));
const { tokens, admin } = await makeTokens();
const central = new SteeredCentral({
  words: ["--data", join(directory, "data"), "--alerts", file, "--port", "0", "--listen", "127.0.0.1"],
  silences: Object.values(hooks),
});

let now_ms = begun_ms;
await central.start(now_ms);
const received_ms: number[] = [];
let [hung, refused, claimed] = [0, 0, 0];
/** Kills while a notice is not answered, as soon as one was taken, and at any moment. */
const killed = { unanswered: 0, taken: 0, any: 0 };
const killMoments = Object.keys(killed) as (keyof typeof killed)[];
const allKilled = () => Object.values(killed).reduce((sum, one) => sum + one, 0);
/** A kill waits for its moment. */
let armed: keyof typeof killed | undefined;
const sides = [mail, ...Object.values(hooks)];
const unclaimed = new Set(planted.filter((trouble) => trouble.claimed));
/** Ends of times in which nobody listens at a webhook. */
const away = new Map<WebhookReceiver, number>();
const reports = planReports();

while (now_ms < end_ms) {
  if (armed === undefined) trouble();
  if (armed === undefined && allKilled() < kills && random() < (3 * kills * step_ms) / (end_ms - begun_ms)) {
    armed = killMoments[Math.floor(random() * killMoments.length)];
    if (armed !== undefined && armed !== "any")
      for (const { refusals } of sides)
        refusals.splice(0, Number.POSITIVE_INFINITY, ...(armed === "unanswered" ? ["silence" as const] : []));
  }
  now_ms += step_ms;
  const moments = {
    any: () => Bun.sleep(random() * 60),
    unanswered: () => mail.refused(),
    taken: () => mail.received(mail.mails.length + 1).then(() => {}),
  };
  const isWhileReported = armed === "any" && random() < 0.5;
  const moment = armed === undefined || isWhileReported ? undefined : moments[armed]();
  const passed = await central.pass(step_ms, moment);
  if (passed !== "killed") now_ms += passed;
  if (isWhileReported) await Promise.all([sendReports(), moments.any().then(() => central.kill())]);
  if (passed === "killed" || armed === "any") {
    if (passed !== "killed" && !isWhileReported) await central.kill();
    for (const { refusals } of sides) refusals.splice(0);
    if (armed !== undefined) killed[armed] += 1;
    armed = undefined;
    await central.start(now_ms);
  }
  await sendReports();
  while (received_ms.length < mail.mails.length) received_ms.push(now_ms);
  await claim();
}
await central.kill();
for (const one of sides) await one.stop();
rmSync(directory, { recursive: true, force: true });

const heard = [
  ...inMails(mail.mails, received_ms),
  ...Object.entries(hooks).flatMap(([to, { calls }]) => inCalls(to, calls)),
];
const { faults, figures } = judge({ planted, recipients, heard });
const forged = Object.values(hooks).flatMap((one) => one.forged).length;
if (forged > 0) faults.push(`${forged} calls had a wrong signature`);
if (allKilled() < kills) faults.push(`only ${allKilled()} kills`);
for (const fault of faults) console.log(fault);
console.log(
  figuresText({
    homes,
    "simulated days": days,
    troubles: planted.length,
    "troubles that end before anybody should hear of them": planted.filter(({ short }) => short).length,
    "times that central was killed": allKilled(),
    "of these while a mail or call was not answered": killed.unanswered,
    "of these as soon as a mail was taken": killed.taken,
    "times that the server of mail or a webhook refused or was away": refused,
    "times that a webhook kept silent": hung,
    ...figures,
    "alerts that were acknowledged on the page": claimed,
    faults: faults.length,
  }),
);
process.exit(faults.length === 0 ? 0 : 1);

/** Now and then a server refuses for hours, keeps silent, or is away. */
function trouble(): void {
  if (random() < 0.01 && mail.refusals.length === 0) {
    refused += 1;
    mail.refusals.push(...Array(1 + Math.floor(random() * 12)).fill(451));
  }
  for (const hook of Object.values(hooks)) {
    const until_ms = away.get(hook);
    if (until_ms !== undefined && now_ms >= until_ms) {
      hook.comeBack();
      away.delete(hook);
    }
    if (random() >= 0.01 || until_ms !== undefined || hook.refusals.length > 0) continue;
    const kind = random();
    if (kind < 0.3) {
      refused += 1;
      hook.refusals.push(...Array(1 + Math.floor(random() * 10)).fill(kind < 0.15 ? 503 : 302));
    } else if (kind < 0.6) {
      hung += 1;
      hook.refusals.push("silence");
    } else {
      refused += 1;
      void hook.stop();
      away.set(hook, now_ms + (1 + Math.floor(random() * 12)) * step_ms);
    }
  }
}

/** The moments of each home's reports, in order: every night, and at the end of a trouble that is too short or had none. */
function planReports(): { readonly home: number; readonly at_ms: number }[] {
  return Array.from({ length: homes }, (_, place) => place + 1)
    .flatMap((home) => {
      const nights = Array.from({ length: days }, (_, night) =>
        reportAfter(home, begun_ms + 1 + night * day_ms),
      );
      const one = troubleOf.get(home);
      const isLate = one?.short === true || unreported.includes(one?.need ?? "data_differ");
      return [...nights, ...(one !== undefined && isLate ? [one.to_ms] : [])].map((at_ms) => ({
        home,
        at_ms,
      }));
    })
    .sort((one, other) => one.at_ms - other.at_ms);
}

/** Sends the reports that are due. What central did not take is sent again in the next step. */
async function sendReports(): Promise<void> {
  const due = reports.splice(0, reports.findIndex(({ at_ms }) => at_ms > now_ms) >>> 0);
  const failed = await Promise.all(
    due.map(async (report) => {
      const { home } = report;
      const one = troubleOf.get(home);
      if (one?.need === "upload_overdue" && isThere(one, now_ms)) return [];
      if (one?.need === "never_heard" && now_ms < one.to_ms) return [];
      const body = reportOf(home, one, {
        now_ms,
        begun_ms,
        due_in_ms: reportAfter(home, now_ms + 1) - now_ms,
      });
      const path = "/sync/v1/report";
      const status = await central.post(path, JSON.stringify(body), {
        ...{ authorization: `bearer ${tokens.get(home)}`, "content-type": "application/json" },
      });
      // Killed, or too many at once: a gateway comes again.
      if (status === undefined || status === 429) return [report];
      if (status !== 200) throw new Error(`the report of home ${home} was answered ${status}`);
      return [];
    }),
  );
  reports.unshift(...failed.flat());
}

/** Somebody deals with what was told, where the plan says so, on the page. */
async function claim(): Promise<void> {
  const told = [
    ...inMails(mail.mails, received_ms),
    ...Object.entries(hooks).flatMap(([to, { calls }]) => inCalls(to, calls)),
  ];
  for (const one of unclaimed) {
    const notice = told.find(
      ({ home, need, kind }) => home === one.home && need === one.need && kind !== "escalated",
    );
    if (notice === undefined) continue;
    const status = await central.post(
      "/alerts/acknowledge",
      new URLSearchParams({ alert: `${notice.id}`, by: "Anna" }),
      {
        ...{ cookie: `lintel-${central.port}=${admin}`, "sec-fetch-site": "same-origin" },
      },
    );
    if (status !== 303) throw new Error(`the acknowledgement was answered ${status}`);
    claimed += 1;
    unclaimed.delete(one);
  }
}

/** A token of each home, and one for the page. That of a home that is never heard is made when the trouble begins. */
async function makeTokens() {
  const clock = new SettableClock(begun_ms);
  const store = await openCentralStore({ directory: join(directory, "data"), clock, log: keptLog().log });
  const texts = new Map<number, string>();
  for (let home = 1; home <= homes; home += 1) {
    const { token, text } = mintToken({ name: `home ${home}`, scope: "sync", home, clock });
    const one = troubleOf.get(home);
    const created_ms = one?.need === "never_heard" ? one.from_ms - 25 * 3_600_000 : begun_ms;
    await store.addToken({ ...token, created_ms });
    texts.set(home, text);
  }
  const { token, text } = mintToken({ name: "page", scope: "admin", clock });
  await store.addToken(token);
  await store.close();
  return { tokens: texts, admin: text };
}
