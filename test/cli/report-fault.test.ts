import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { programWords, Scrub } from "../../src/cli/fault-report/scrub.ts";
import { Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

/** Names that no text of the program has, and names that it has as words. */
const marks = [
  ...["Quorlin", "Vebbeth", "Zanthomir", "Drusselweg", "Hobbelheim", "Pimmerlee", "Wexfordine", "Oskavary"],
  ...["Gate Waterman", "Port Serial"],
];
const [first, last, study, street, city, item, room, holder, resident, other] = marks as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
/** A person whom libraries name that lie beside the program, and the program itself does not. */
const author = "Mathias";
const secrets = [
  "00124b0021a8ec79",
  "21:a8:ec:79",
  "quorlin@vebbeth.example",
  "192.168.17.23",
  "+1 503 555 0142",
  "5035550142",
];
let text = "";
// biome-ignore lint/suspicious/noExplicitAny: read as JSON, each part by what is expected of it
let report: Record<string, any>;
let token = "";

beforeAll(async () => {
  const programme = join(site.directory, "programme.json");
  writeFileSync(programme, JSON.stringify(records()));
  site.configure({
    api: `realm = "${study}"\ntls_names = ["${city}.example"]\ntls = "self-signed"`,
    sections: `[home]\nid = 12\n[zigbee]\nport = "/dev/serial/by-id/usb-${item}"\n[walking]\n${first} = [{ item = "a", metres = 0 }, { item = "b", metres = 1 }, { item = "c", metres = 2 }]`,
  });
  token = await site.token();
  await site.answer("token", "create", `${holder} of ${resident}`, "--json", "--data", site.data);
  const imported = await site.lintel("import", programme, "--config", site.config);
  if (imported.code !== 0) throw new Error(imported.said);
  await site.lintel(
    "items",
    "name",
    "00:12:4b:00:21:a8:ec:79",
    `${item} ${other}`,
    "--room",
    room,
    "--config",
    site.config,
  );
  const log = join(site.directory, "log");
  writeFileSync(log, lines().join("\n"));
  const gateway = await site.run();
  const file = join(site.directory, "fault.json");
  await site.answer("report-fault", "--out", file, "--log", log, "--json", "--config", site.config);
  await gateway.stop();
  text = readFileSync(file, "utf8");
  report = JSON.parse(text);
});

/** A programme in which everything that has a name has a marked one. */
function records() {
  return {
    items: [
      {
        itemid: 5,
        itemname: `${item}-${room}`,
        serialnum: `${last}-5`,
        macaddress: "00:12:4b:00:21:a8:ec:79",
        typename: "wirelesssensors",
        statusname: "Assigned",
        currenthomeid: 12,
      },
    ],
    subjects: [{ subjectid: 7, fname: first, lname: resident, email: "quorlin@vebbeth.example" }],
    homes: [{ homeid: 12, address: `${street} 7`, cityname: city }],
    phones: [{ subjectid: 7, phoneid: 1, phone: "+1 503 555 0142" }],
    contacts: [
      { subjectid: 7, contactid: 1, username: other, contactText: "said that the gateway is not there" },
    ],
    projects: [{ projectid: 1, projectname: study }],
  };
}

/** A log in which all of it is told, and what strangers told of themselves. */
function lines(): string[] {
  return [
    `2026-11-22T02:00:01Z warn zigbee: the Zigbee adapter /dev/serial/by-id/usb-${item}_0001 is not there: plug it in`,
    `${item}-${room} (00:12:4b:00:21:a8:ec:79) has not been heard for 3 h; 0x00124b0021a8ec79 again after 250 ms`,
    `central at https://${city}.example:8090/x refuses the token ${token}`,
    `${other} asked from 192.168.17.23 and fe80::1c2d:3e4f, wrote quorlin@vebbeth.example and +1 503 555 0142 or 5035550142`,
    `a stranger called ${street}'s watch: ${resident.toLowerCase()}, ${resident.toUpperCase()}, ${first}${last}, ${city}strasse`,
    `a stranger called ${author} asked for /`,
  ];
}

test("no mark is in any byte of it, in any case, nor a token, an address or a number of anybody", () => {
  const shown = text.toLowerCase();
  const parts = marks.filter((mark) => !mark.includes(" "));
  const found = [...parts, author, ...secrets, token, token.split(".")[1] ?? "", hostname()].filter((one) =>
    shown.includes(one.toLowerCase()),
  );
  expect(found).toEqual([]);
  // Names that are made of the program's words are in no text that is not the program's.
  const told = JSON.stringify([report["log"], report["store"].items, report["doctor"]]).toLowerCase();
  expect(["waterman", "serial", "gate ", "port "].filter((word) => told.includes(word))).toEqual([]);
  expect(statSync(join(site.directory, "fault.json")).mode & 0o777).toBe(0o600);
});

test("it has what a developer needs: versions, findings, the gateway's word, counts, and the log in the program's words", () => {
  expect(report["version"]).toMatch(/^0\.1\.0/);
  expect(report["machine"]).toMatchObject({
    kernel: expect.any(String),
    bun: Bun.version,
    disk: { free_bytes: expect.any(Number) },
  });
  expect(report["gateway"].drivers).toEqual([
    expect.objectContaining({ name: "zigbee", state: expect.any(String) }),
  ]);
  expect(report["configuration"]).toMatchObject({
    api: { listen: expect.any(String), tls: "self-signed", realm: "a text of 9" },
    zigbee: { port: "/dev/serial/by-id/…" },
    walking: "1 lines",
  });
  expect(report["store"]).toMatchObject({ schemaVersion: expect.any(Number), rows: { items: 1 } });
  expect(report["store"].items).toEqual([
    expect.objectContaining({ kind: "wirelesssensors", address: "00124b‹address 1›" }),
  ]);
  expect(report["doctor"].length).toBeGreaterThan(10);
  expect(JSON.stringify(report)).not.toContain('"failed"');
  const [adapter, silent, refused] = report["log"];
  expect(adapter).toMatch(
    /^2026-11-22T02:00:01Z warn zigbee: the Zigbee adapter \/dev\/.*‹word \d+› is not there: plug it in$/,
  );
  expect(silent).toMatch(
    / \(00124b‹address 1›\) has not been heard for 3 h; 00124b‹address 1› again after 250 ms$/,
  );
  expect(refused).toMatch(/^central at https:\/\/‹host \d+› refuses the token ‹token 1›$/);
});

test("a file that is there stays, and a store that is damaged is reported too", async () => {
  const file = join(site.directory, "fault.json");
  const again = await site.lintel("report-fault", "--out", file, "--config", site.config);
  expect([again.code, again.said]).toEqual([
    2,
    expect.stringContaining("is there already: name another file"),
  ]);
  const data = join(site.directory, "damaged");
  await site.answer("token", "create", first, "--new", "--json", "--data", data);
  writeFileSync(join(data, "lintel.db"), "SQLite format 3\0, and nothing of one");
  const out = join(site.directory, "damaged.json");
  expect((await site.lintel("report-fault", "--out", out, "--data", data)).code).toBe(0);
  const damaged = JSON.parse(readFileSync(out, "utf8"));
  expect([damaged.store.failed === undefined, damaged.doctor.length > 5]).toEqual([false, true]);
});

test("of a home that is restricted it has no device", async () => {
  const out = join(site.directory, "restricted.json");
  const reason = ["--reason", "a letter", "--config", site.config];
  expect((await site.lintel("restrict", ...reason)).code).toBe(0);
  expect((await site.lintel("report-fault", "--out", out, "--config", site.config)).code).toBe(0);
  const { store } = JSON.parse(readFileSync(out, "utf8"));
  expect([store.items, store.rows.items]).toEqual([[], 1]);
  expect((await site.lintel("restrict", "--lift", ...reason)).code).toBe(0);
});

test("whatever a line is made of, no word is in it but the program's, and no long number", () => {
  const words = programWords();
  const scrub = new Scrub({ words, names: [] });
  for (const line of [
    "Änne Öztürk-Łoś",
    "张伟 heard",
    "O’Brien's",
    "abc\u0301de",
    "x_Quorlin_y",
    "12345678",
    "a1b2c3d4e5f6a7b8",
  ]) {
    const left = scrub.text(line).replaceAll(/‹[a-z]+ \d+›/g, " ");
    expect(left.match(/\p{L}+|\d{7,}/gu)?.filter((word) => !words.has(word.toLowerCase())) ?? []).toEqual([]);
  }
});
