import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hour_ms } from "../../../src/base/time.ts";
import { AlertNotices } from "../../../src/central/alerts/alert-notices.ts";
import { AlertFiles } from "../../../src/central/alerts/alert-state.ts";
import { noticeSender, testNotice } from "../../../src/central/alerts/notice.ts";
import { smtpSender } from "../../../src/central/alerts/smtp.ts";
import { needsOfCentral } from "../../../src/central/fleet/needs-of-central.ts";
import type { AlertRecipient } from "../../../src/config/alert-settings.ts";
import type { FleetHome, FleetNeed } from "../../../src/domain/fleet-home.ts";
import { MailServer } from "../../../testbed/mail-server.ts";
import { keptLog, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { WebhookReceiver } from "../../../testbed/webhook-receiver.ts";

/** A Monday in Berlin, in summer time: 10:00 there. */
const monday_ms = Date.UTC(2026, 5, 1, 8);
const field: AlertRecipient = {
  ...{ to: "field@example.org", duties: ["field"], timezone: "Europe/Berlin" },
  ...{ quiet: { from: "20:00", to: "08:00" }, digest: "08:30" },
};
const others: AlertRecipient = { ...field, to: "lead@example.org", duties: ["lead"] };

let directory: ReturnType<typeof temporaryDirectory>;
let server: MailServer;
let clock: SettableClock;
let notices: AlertNotices;
let lines: string[];
let sent = 0;
let restricted: readonly number[];

beforeEach(async () => {
  directory = temporaryDirectory();
  server = await MailServer.start();
  clock = new SettableClock(monday_ms);
  sent = 0;
  restricted = [];
  open();
});

afterEach(async () => {
  await server.stop();
  directory[Symbol.dispose]();
});

/** As a central that starts on the directory. */
function open(url = server.url, recipients: readonly AlertRecipient[] = [field, others]): void {
  const kept = keptLog();
  lines = kept.lines;
  const settings = {
    ...{ url: "https://central.example", directory: directory.path, recipients },
    ...{ smtp: { url, from: "lintel@example.org" }, warnings: [] },
  };
  notices = new AlertNotices({
    ...{ settings, send: noticeSender(settings, clock), clock, log: kept.log },
    restrictedHomes: async () => new Set(restricted),
    newId: () => `mail-${++sent}`,
  });
}

const need = (type: FleetNeed["type"], message: string, item?: string): FleetNeed => ({
  ...{ type, message },
  ...(item === undefined ? {} : { item }),
});
const silent = need("item_silent", "hall has not been heard since 2026-05-31", "hall");
const overdue = need("upload_overdue", "The gateway has not uploaded since 2026-05-30");
const hot = need("gateway_hot", "The gateway of home 3 is too hot");
const homes = (needs: Readonly<Record<number, readonly FleetNeed[]>>) =>
  Object.entries(needs).map(([homeid, of]) => ({
    homeid: Number(homeid),
    needs: of,
  })) as unknown as FleetHome[];

/** Time passes, central looks at its homes, and mails what is due. */
async function after(hours: number, fleet: readonly FleetHome[]): Promise<void> {
  clock.advance(hours * hour_ms);
  notices.note(fleet);
  await notices.round();
}

const subjects = () => server.mails.map(({ to, subject }) => [to.split("@")[0], subject]);

test("nobody hears any more of a home that is restricted", async () => {
  for (let hour = 0; hour < 11; hour += 1) await after(1, homes({ 3: [silent] }));
  const [home] = homes({ 3: [] });
  await after(1, [{ ...(home as FleetHome), restricted: true }]);
  expect(notices.open).toEqual([]);
  for (let hour = 0; hour < 24; hour += 1) await after(1, []);
  expect(server.mails).toEqual([]);
});

test("a mail that waits for its server tells nothing of a home that is restricted meanwhile, and all of the others", async () => {
  await server.stop();
  const bed = need("item_silent", "bed has not been heard since 2026-05-31", "bed");
  const fleet = homes({ 3: [silent], 4: [bed] });
  for (let hour = 0; hour < 23; hour += 1) await after(1, fleet);
  const waiting = () => JSON.stringify(new AlertFiles(directory.path).read().recipients);
  expect(waiting()).toContain("hall has not been heard");
  // Central looks at its homes again only in a quarter of an hour.
  restricted = [3];
  clock.advance(60_000);
  await notices.round();
  expect(readFileSync(join(directory.path, "state.json"), "latin1")).not.toContain("hall");
  expect(waiting()).toContain("bed has not been heard");
  server = await MailServer.start();
  open();
  await notices.round();
  for (let hour = 0; hour < 3; hour += 1) await after(1, homes({ 4: [bed] }));
  const texts = server.mails.map(({ text }) => text).join();
  expect([texts.includes("hall"), texts.includes("bed has not been heard")]).toEqual([false, true]);
});

test("an outage of many homes is one mail, and none comes while it lasts", async () => {
  const all = homes(Object.fromEntries(Array.from({ length: 600 }, (_, home) => [home + 1, [overdue]])));
  for (let hour = 0; hour < 9; hour += 1) await after(1, all);
  expect(subjects()).toEqual([["field", "Lintel: 600 homes need somebody"]]);
  const [mail] = server.mails;
  expect(mail?.text).toContain(
    "Upload overdue in 600 homes: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 590 more. Look for one cause first.",
  );
  expect(mail?.text).toContain("lintel alerts acknowledge 1-600\n");
  expect(mail?.text.length).toBeLessThan(1_000);
});

test("a device is told of after half a day of silence, once, and again only after its silence was over", async () => {
  await after(0, homes({ 3: [silent] }));
  await after(11, homes({ 3: [silent] }));
  expect(subjects()).toEqual([]);
  // 22:00: quiet hours.
  await after(1, homes({ 3: [silent] }));
  expect(subjects()).toEqual([]);
  // 08:15, before the digest.
  await after(10.25, homes({ 3: [silent] }));
  expect(subjects()).toEqual([["field", "Lintel: home 3: Item silent"]]);
  expect(server.mails[0]?.text).toContain(
    "Home 3  https://central.example/homes/3\n  1  Item silent: hall has not been heard since 2026-05-31\n",
  );
  // It comes and goes: one outage. After 30 hours without it there is another one.
  await after(3, homes({ 3: [] }));
  await after(3, homes({ 3: [silent] }));
  await after(3, homes({ 3: [] }));
  await after(28, homes({ 3: [] }));
  await after(3, homes({ 3: [silent] }));
  await after(12, homes({ 3: [silent] }));
  await after(12, homes({ 3: [silent] }));
  expect(subjects().map(([, subject]) => subject)).toEqual([
    "Lintel: home 3: Item silent",
    "Lintel: daily digest: home 3: Item silent",
  ]);
});

test("a device that was silent for less is nobody's business", async () => {
  await after(0, homes({ 3: [silent] }));
  await after(3, homes({ 3: [] }));
  await after(10, homes({ 3: [silent] }));
  await after(11, homes({ 3: [silent] }));
  expect(server.mails).toEqual([]);
});

test("lesser needs come in the digest of the next day, with what is over and what is still open", async () => {
  await after(0, homes({ 3: [hot, overdue] }));
  await after(1, homes({ 3: [hot, overdue] }));
  expect(subjects()).toEqual([["field", "Lintel: home 3: Upload overdue"]]);
  await after(22, homes({ 3: [hot, overdue] }));
  const digest = server.mails[1];
  expect(digest?.subject).toBe("Lintel: daily digest: home 3: Gateway too hot");
  expect(digest?.text).toContain("  1  Gateway too hot: The gateway of home 3 is too hot\n");
  expect(digest?.text).toContain(
    "Still open:\n\nHome 3  https://central.example/homes/3\n  2  Upload overdue",
  );
  await after(8, homes({ 3: [hot] }));
  await after(16, homes({ 3: [hot] }));
  expect(server.mails[2]?.text).toContain("Over since the last digest:\n\nHome 3");
  // Nothing is new: no mail.
  await after(24, homes({ 3: [hot] }));
  expect(server.mails).toHaveLength(3);
});

test("what nobody acknowledges goes to lead after two days, and what somebody does goes to nobody", async () => {
  const fleet = homes({ 3: [overdue], 4: [overdue], 5: [need("two_gateways", "2 gateways upload")] });
  await after(0, fleet);
  // Running the servers is nobody's duty here: lead has it.
  expect(subjects()).toEqual([
    ["field", "Lintel: 2 homes need somebody"],
    ["lead", "Lintel: home 5: Two gateways"],
  ]);
  new AlertFiles(directory.path).acknowledge(1, "anna", monday_ms);
  await after(47, fleet);
  expect(subjects()).toHaveLength(2);
  await after(1, fleet);
  expect(subjects().slice(2)).toEqual([["lead", "Lintel: not acknowledged: home 4: Upload overdue"]]);
  for (let day = 0; day < 5; day += 1) await after(24, fleet);
  expect(subjects()).toHaveLength(3);
});

test("a central without a backup says so in the digest of whoever runs it", async () => {
  const needs = needsOfCentral({ backup_age_ms: 9 * 24 * hour_ms });
  await after(0, [{ homeid: 0, needs }] as unknown as FleetHome[]);
  await after(23, [{ homeid: 0, needs }] as unknown as FleetHome[]);
  expect(subjects()).toEqual([["lead", "Lintel: daily digest: central: No backup of central"]]);
  expect(server.mails[0]?.text).toStartWith(
    "Central itself\n  1  No backup of central: Central has no backup",
  );
  expect([needsOfCentral({ backup_age_ms: 7 * 24 * hour_ms }), needsOfCentral({})]).toEqual([[], []]);
  const types = (days: number) =>
    needsOfCentral({ certificate_left_ms: days * 24 * hour_ms }).map(({ type }) => type);
  expect([types(22), types(20), types(-1)]).toEqual([[], ["certificate_ends"], ["certificate_ends"]]);
});

test("a server that refuses is asked again, and a mail that it took is not sent twice", async () => {
  server.refusals.push(451, 451);
  await after(0, homes({ 3: [overdue] }));
  await after(1 / 60, homes({ 3: [overdue], 4: [overdue] }));
  expect(lines).toEqual([
    expect.stringContaining("alerts could not be sent to field@example.org: Message failed: 451 try later"),
  ]);
  expect(notices.figures()).toMatchObject({ waiting: 1, delivered: 0 });
  await after(2 / 60, homes({ 3: [overdue], 4: [overdue] }));
  expect(subjects()).toEqual([["field", "Lintel: home 3: Upload overdue"]]);
  // Home 4 waits for its turn: one mail an hour.
  await after(1, homes({ 3: [overdue], 4: [overdue] }));
  expect(subjects().at(-1)).toEqual(["field", "Lintel: home 4: Upload overdue"]);
});

test("a central that is killed loses no mail, and sends what it was sending under the same name", async () => {
  const { port } = server;
  await server.stop();
  await after(0, homes({ 3: [overdue] }));
  expect(lines[0]).toContain("could not be sent");
  open(`smtp://127.0.0.1:${port}`);
  server = await MailServer.start(port);
  await after(1, homes({ 3: [overdue] }));
  expect(server.mails.map(({ messageId }) => messageId)).toEqual(["<mail-1@example.org>"]);
  open(`smtp://127.0.0.1:${port}`);
  await after(1, homes({ 3: [overdue] }));
  expect(server.mails).toHaveLength(1);
});

test("a mail that was refused waits until quiet hours are over", async () => {
  clock.advance(9.75 * hour_ms);
  server.refusals.push(451);
  await after(0, homes({ 3: [overdue] }));
  for (let hour = 0; hour < 12; hour += 1) await after(1, homes({ 3: [overdue] }));
  expect(server.mails).toEqual([]);
  await after(0.5, homes({ 3: [overdue] }));
  expect(subjects()).toEqual([["field", "Lintel: home 3: Upload overdue"]]);
});

test("a need that comes and goes, and is away whenever a digest is made, is told all the same", async () => {
  for (let hour = 0; hour < 24; hour += 1) await after(1, homes(hour % 2 === 0 ? { 3: [hot] } : { 3: [] }));
  expect(subjects()).toEqual([["field", "Lintel: daily digest: home 3: Gateway too hot"]]);
});

test("a mail that no server takes for three days is given up and listed, and the next one has it", async () => {
  const { port } = server;
  await server.stop();
  for (let day = 0; day < 5; day += 1) await after(24, homes({ 3: [overdue] }));
  expect(lines.at(-1)).toContain("alerts to field@example.org were given up after 3 days");
  const { undelivered } = new AlertFiles(directory.path).read();
  expect(undelivered).toMatchObject([{ to: "field@example.org", subject: "Lintel: home 3: Upload overdue" }]);
  server = await MailServer.start(port);
  await after(2, homes({ 3: [overdue] }));
  await after(2, homes({ 3: [overdue] }));
  expect(server.mails[0]?.text).toContain("Upload overdue: The gateway has not uploaded");
});

describe("a webhook", () => {
  let receiver: WebhookReceiver;
  let hook: AlertRecipient;
  beforeEach(() => {
    receiver = new WebhookReceiver();
    const secret_file = join(directory.path, "secret");
    writeFileSync(secret_file, `${receiver.secret}\n`);
    const quiet = { from: "00:00", to: "00:00" };
    const webhook = { url: receiver.url, secret_file };
    hook = { ...field, to: "desk", webhook, quiet, needs: ["upload_overdue"] };
    open(undefined, [field, others, hook]);
  });
  afterEach(() => receiver.stop());

  test("gets what its rules name, signed, beside the mails of the others", async () => {
    await after(0, homes({ 3: [overdue, hot], 4: [need("disk_nearly_full", "The disk is nearly full")] }));
    expect(receiver.forged).toEqual([]);
    const alert = { id: 1, need: "upload_overdue", title: "Upload overdue", item: null };
    expect(receiver.calls).toEqual([
      {
        ...{ id: expect.stringMatching(/^mail-\d$/), time_s: monday_ms / 1_000, type: "alerts.new" },
        timestamp: "2026-06-01T08:00:00.000Z",
        data: {
          subject: "Lintel: home 3: Upload overdue",
          told: [
            {
              ...{ ...alert, home: 3, message: overdue.message, since: "2026-06-01T08:00:00.000Z" },
              ...{ acknowledged_by: null, link: "https://central.example/homes/3" },
            },
          ],
          ...{ over: [], open: [], left_out: 0 },
        },
      } as never,
    ]);
    expect(subjects()).toEqual([["field", "Lintel: 2 homes need somebody"]]);
  });

  test("that fails is called again with the same id, and no redirect is followed", async () => {
    receiver.refusals.push(302, 500);
    await after(0, homes({ 3: [overdue] }));
    expect(lines).toEqual([
      expect.stringContaining("alerts could not be sent to desk: it answers 302 (said once"),
    ]);
    await after(1 / 60, homes({ 3: [overdue] }));
    expect(new AlertFiles(directory.path).read().recipients["desk"]?.waiting).toMatchObject({
      ...{ tries: 2, failure: "it answers 500" },
    });
    await after(2 / 60, homes({ 3: [overdue] }));
    expect(receiver.calls.map(({ id }) => id)).toEqual(["mail-2"]);
  });

  test("that keeps silent is left after 20 seconds, and the mails do not wait for it", async () => {
    receiver.refusals.push("silence");
    const silent = receiver.silent();
    const round = after(0, homes({ 3: [overdue] }));
    await silent;
    await server.received(1);
    clock.advance(20_000);
    await round;
    expect(lines[0]).toContain("it does not answer within 20 s");
    await after(1, homes({ 3: [overdue] }));
    expect(receiver.calls).toHaveLength(1);
  });

  test("that is away for three days is listed by its name, and its address is nowhere", async () => {
    await receiver.stop();
    for (let day = 0; day < 5; day += 1) await after(24, homes({ 3: [overdue] }));
    const { undelivered } = new AlertFiles(directory.path).read();
    expect(undelivered).toMatchObject([{ to: "desk", subject: "Lintel: home 3: Upload overdue" }]);
    receiver.comeBack();
    await after(2, homes({ 3: [overdue] }));
    expect(receiver.calls.map(({ data }) => data.told.map(({ home }) => home))).toEqual([[3]]);
    expect(`${readFileSync(join(directory.path, "state.json"))}${lines.join()}`).not.toContain("secret-of");
  });

  const python = Bun.which("python3") ?? "";

  test.skipIf(python === "")("is verified by the lines of Python that docs/alerts.md shows", async () => {
    const text = await Bun.file(join(import.meta.dir, "../../../docs/alerts.md")).text();
    const [, shown = ""] = /```python\n([\s\S]*?)```/.exec(text) ?? [];
    let call: { headers: Record<string, string>; body: string } | undefined;
    using taker = Bun.serve({
      ...{ hostname: "127.0.0.1", port: 0 },
      async fetch(request) {
        call = { headers: request.headers.toJSON(), body: await request.text() };
        return new Response();
      },
    });
    const webhook = { url: `${taker.url}`, secret_file: join(directory.path, "secret") };
    const settings = { url: "https://central.example" };
    const made = { settings, id: "one", now_ms: monday_ms };
    const now = new SettableClock(Date.now());
    await noticeSender({}, now)({ ...hook, webhook }, testNotice({ ...hook, webhook }, made));
    const verdict = (body: string) => {
      const program = `import sys, json\ngiven = json.load(sys.stdin)\nheaders, secret, body = given["headers"], given["secret"], given["body"].encode()\n${shown}\nprint(genuine)`;
      const stdin = Buffer.from(JSON.stringify({ ...call, body, secret: receiver.secret }));
      const { stdout, stderr } = Bun.spawnSync([python, "-c", program], { stdin });
      return `${stdout}${stderr}`.trim();
    };
    expect([verdict(call?.body ?? ""), verdict(`${call?.body} `)]).toEqual(["True", "False"]);
  });
});

test("a password goes to no other machine without TLS", async () => {
  const password_file = join(directory.path, "password");
  writeFileSync(password_file, "secret\n");
  const from = "lintel@example.org";
  // Of this machine too, and not by one of the names of itself.
  const url = `smtp://lintel@0.0.0.0:${server.port}`;
  const mail = { to: "field@example.org", message_id: "<1@example.org>", subject: "Test", text: "Test" };
  await expect(smtpSender({ url, from, password_file })(mail)).rejects.toThrow(/STARTTLS/i);
  expect(server.mails).toEqual([]);
  await smtpSender({ url, from })(mail);
  expect(server.mails).toHaveLength(1);
});
