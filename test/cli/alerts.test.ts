import { afterAll, beforeAll, expect, test } from "bun:test";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { day_ms } from "../../src/base/time.ts";
import { mintToken } from "../../src/domain/token.ts";
import { openCentralStore } from "../../src/store/sqlite/open-central.ts";
import { Site } from "../../testbed/front-door.ts";
import { MailServer } from "../../testbed/mail-server.ts";
import { keptLog } from "../../testbed/sample.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

const site = new Site();
const file = join(site.directory, "alerts.toml");
let server: MailServer;

/** A central in which two homes have waited for a box since yesterday, whose last backup is old, and a file of alerts. */
beforeAll(async () => {
  server = await MailServer.start();
  const clock = new SystemClock();
  const store = await openCentralStore({
    directory: site.data,
    clock,
    log: keptLog().log,
    ...writerOfTests(),
  });
  for (const home of [13, 14]) {
    const { token } = mintToken({ name: `home ${home}`, scope: "sync", home, clock });
    await store.addToken({ ...token, created_ms: token.created_ms - 2 * day_ms });
  }
  await store.close();
  await site.answer("backup", join(site.directory, "backup"), "--data", site.data, "--json");
  const old_s = clock.now().unix_ms / 1000 - 9 * 86_400;
  utimesSync(join(site.data, "backup-made"), old_s, old_s);
  writeFileSync(
    file,
    `url = "https://central.example"
directory = "alerts"
[smtp]
url = "${server.url}"
from = "lintel@example.org"
[[recipient]]
mail = "field@example.org"
duties = ["field", "lead"]
timezone = "Europe/Berlin"
quiet = "00:00-00:00"
digest = "08:00"
`,
  );
});
afterAll(async () => {
  await site.remove();
  await server.stop();
});

const alerts = (...words: string[]) => site.lintel("alerts", ...words, "--alerts", file);

test("central mails what homes need, also after it was killed while the server of mail kept silent", async () => {
  server.refusals.push("silence");
  const killed = await site.central("--data", site.data, "--alerts", file);
  await server.refused();
  killed.process.kill("SIGKILL");
  await killed.process.exited;
  const central = await site.central("--data", site.data, "--alerts", file);
  const [mail] = await server.received(1);
  expect(mail).toMatchObject({ to: "field@example.org", subject: "Lintel: 2 homes need somebody" });
  expect(mail?.text).toContain(
    "Home 13  https://central.example/homes/13\n  1  Never heard: Home 13 has a token",
  );
  expect(mail?.text).toContain("Home 14  https://central.example/homes/14\n  2  Never heard:");

  expect(await alerts("acknowledge", "4")).toMatchObject({
    code: 2,
    said: expect.stringContaining("no open alert has the number 4"),
  });
  expect(await alerts("acknowledge", "1-2", "--by", "anna")).toMatchObject({ code: 0 });
  const { open } = await site.answer("alerts", "list", "--json", "--alerts", file);
  expect(open).toMatchObject([
    { id: 1, home: 13, need: "never_heard", acknowledged: { by: "anna" } },
    { id: 2, home: 14, need: "never_heard", acknowledged: { by: "anna" } },
    // For the next digest.
    { id: 3, home: 0, need: "backup_old", told: {} },
  ]);
  expect((await alerts("list")).out).toContain("Never heard");
  await central.stop();
  expect(server.mails).toHaveLength(1);
});

test("a test mail goes to every recipient, and says why where the server takes none", async () => {
  expect(await alerts("test")).toMatchObject({ code: 0, out: "field@example.org: sent" });
  expect(server.mails.at(-1)?.subject).toBe("Lintel: test");
  server.refusals.push(550);
  const refused = await alerts("test");
  expect(refused).toMatchObject({ code: 1, out: expect.stringContaining("550 try later") });
});

test.each([
  ["an unknown key", (text: string) => text.replace("digest", "digset"), 'did you mean "digest"?'],
  ["a password in the URL", (text: string) => text.replace("smtp://", "smtp://a:b@"), "smtp.url is"],
  [
    "a duty that nobody has",
    (text: string) => text.replace(', "lead"', ""),
    "nobody has the duty data or server",
  ],
  ["no zone", (text: string) => text.replace("Europe/Berlin", "CET"), 'did you mean "Europe/Berlin"?'],
  [
    "a webhook that has no secret",
    (text: string) => text.replace(/mail = .*/, 'webhook = "https://hooks.example/"\nname = "desk"'),
    "write mail alone, or webhook with name and secret_file",
  ],
  [
    "a webhook in the open",
    (text: string) => text.replace("mail =", 'webhook = "http://hooks.example/"\nmail ='),
    "recipient.webhook is",
  ],
  ["a need that is none", (text: string) => `${text}needs = ["item_silence"]\n`, "recipient.needs is"],
  [
    "no server of mail",
    (text: string) => text.replace(/\[smtp\][^[]*/, ""),
    "write [smtp] with url and from",
  ],
  ["a time of no clock", (text: string) => text.replace('"08:00"', '"8"'), "recipient.digest is"],
])("settings with %s are refused in one line, with the remedy", async (_, change, said) => {
  const other = join(site.directory, "other.toml");
  writeFileSync(other, change(await Bun.file(file).text()));
  const refused = await site.lintel("alerts", "list", "--alerts", other);
  expect(refused.code).toBe(2);
  expect(refused.said).toContain(said);
  expect(refused.said.trimEnd().split("\n")).toHaveLength(1);
});
