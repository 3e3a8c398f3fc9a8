import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Device, Reading } from "../../src/domain/reading.ts";
import { mintToken } from "../../src/domain/token.ts";
import { decodeBatch } from "../../src/transfer/batch-codec.ts";
import { positionHeader, syncPath } from "../../src/transfer/protocol.ts";
import { Site } from "../../testbed/front-door.ts";
import { nightly } from "../../testbed/nightly.ts";
import { postgresServer } from "../../testbed/postgres/server.ts";
import { reading, sensor, sensorEvent } from "../../testbed/sample.ts";
import { type Home, Programme } from "../gateway/uploader/programme.ts";

/** Heard in both homes, and by the inventory in 13; heard in both, and in no inventory; one of each home's own. */
const [hall, unlisted, own12, own13] = [sensor(1), sensor(2), sensor(120), sensor(130)];
/** In 13 until it was given out again in 12. */
const scale: Device = { kind: "scales", address: "00:24:e4:00:00:07" };
const start_ms = Date.UTC(2026, 8, 1);
const moved_s = start_ms / 1000 + 20 * 60;
const each = 40;

/** Numbers of a home's readings of a device: each has its home in front, so that nobody's is taken for another's. */
function said(home: number, device: Device, from = 0, before = each): number[] {
  const first = home * 1_000_000 + Number.parseInt(device.address.slice(-2), 16) * 1000;
  return Array.from({ length: before - from }, (_, index) => first + from + index);
}

/** The readings of a home: one of each device a minute, in the same milliseconds as in the other home. */
function readingsOf(home: number, own: Device): Reading[] {
  return Array.from({ length: each }, (_, minute) => {
    const stamp_ms = start_ms + minute * 60_000;
    const sensed = [hall, unlisted, own].map((device) =>
      sensorEvent(device, stamp_ms, said(home, device)[minute] as number),
    );
    const weight = said(home, scale)[minute] as number;
    const rest = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null };
    return [...sensed, reading(scale, "scale_weights", stamp_ms, { weight, ...rest })];
  }).flat();
}

const sent = (home: number, own: Device) =>
  [hall, unlisted, own, scale].flatMap((of) => said(home, of)).sort();
const item = (itemid: number, itemname: string, { kind, address }: Device, currenthomeid: number) => ({
  ...{ itemid, itemname, typename: kind, macaddress: address, currenthomeid },
});
const records = {
  homes: [12, 13].map((homeid) => ({ homeid, address: `street of ${homeid}` })),
  subjects: [12, 13].map((home) => ({ subjectid: 100 + home, fname: `person of ${home}` })),
  project_enrollments: [12, 13].map((homeid) => ({
    subjectid: 100 + homeid,
    projectid: 1,
    homeid,
    start: 10,
  })),
  projects: [{ projectid: 1 }],
  items: [
    item(1, "hall", hall, 13),
    item(120, "own-12", own12, 12),
    item(130, "own-13", own13, 13),
    { ...item(7, "scale", scale, 12), currenthomestart: moved_s },
  ],
  home_inventory: [
    { homeid: 13, item: 7, start: 10, stop: moved_s },
    { homeid: 12, item: 7, start: moved_s, stop: null },
  ],
  subject_inventory: [{ subjectid: 113, itemid: 1, itemname: "hall", start: "2026-01-01" }],
  issues: [{ issueid: 1, itemid: 1, summary: "the hall of 13" }],
};

describe.each(nightly ? ["SQLite", "PostgreSQL"] : ["SQLite"])(
  "two homes that hear devices of one address, on %s",
  (kept) => {
    const site = new Site();
    const programme = new Programme();
    const homes = new Map<number, Home>();
    let storeWords: string[] = [];
    let database: { url: string } & AsyncDisposable;
    let readToken = "";

    beforeAll(async () => {
      if (kept === "PostgreSQL") {
        database = await (await postgresServer()).database();
        await programme.startOn({ database: database.url });
        storeWords = ["--database", database.url];
      } else {
        await programme.start();
        storeWords = ["--data", join(programme.directory, "central")];
      }
      const { token, text } = mintToken({ name: "reader", scope: "read", clock: programme.clock });
      await programme.store.addToken(token);
      readToken = text;
      for (const home of [12, 13]) homes.set(home, await programme.box(home));
      // Home 12 reports everything first, before and after the programme says whose the items are.
      await homes.get(12)?.append(readingsOf(12, own12));
      await homes.get(12)?.upload();
      await importRecords(records);
      await homes.get(12)?.upload({ everyDay: true });
      await homes.get(13)?.append(readingsOf(13, own13));
      expect(await homes.get(13)?.upload()).toMatchObject({ sent: 4 * each, differing_days: 0 });
    });
    afterAll(async () => {
      await programme[Symbol.asyncDispose]();
      await database?.[Symbol.asyncDispose]();
      await site.remove();
    });

    async function importRecords(document: object): Promise<void> {
      const file = join(site.directory, "programme.json");
      writeFileSync(file, JSON.stringify(document));
      const { code, said: words } = await site.lintel("import", file, ...storeWords);
      if (code !== 0) throw new Error(words);
    }

    async function get<Body>(path: string): Promise<Body> {
      const headers = { authorization: `bearer ${readToken}`, accept: "application/json" };
      const response = await fetch(`${programme.url}/v0.9${path}`, { headers });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Body;
    }

    const eventsOf = async (name: string) =>
      (await get<{ event: number }[]>(`/items/wirelesssensors/${name}/events`)).map(({ event }) => event);
    const weightsOf = async () =>
      (await get<{ weight: number }[]>("/items/scales/scale/weights")).map(({ weight }) => weight);
    /** The item that stands for a device in no inventory, in a home. */
    const provisionalIn = async (home: number, { address }: Device) => {
      const items = await get<Listed[]>("/inventory/wirelesssensors");
      const found = items.filter(
        ({ macaddress, currenthomeid }) => macaddress === address && currenthomeid === home,
      );
      expect(found).toHaveLength(1);
      return found[0]?.itemname ?? "";
    };
    const nightIn = async (home: number) => {
      const all = await get<{ itemname: string; events: { event: number }[] }[]>(
        `/homes/${home}/wirelesssensors/events`,
      );
      return new Map(all.map(({ itemname, events }) => [itemname, events.map(({ event }) => event)]));
    };

    test("a page of an item holds what the home sent that it lives in, and all of that", async () => {
      expect(await eventsOf("hall")).toEqual(said(13, hall).reverse());
      expect(await eventsOf("own-12")).toEqual(said(12, own12).reverse());
      expect(await eventsOf("own-13")).toEqual(said(13, own13).reverse());
    });

    test("a device in no inventory is an item of each home that hears it", async () => {
      for (const home of [12, 13])
        expect(await eventsOf(await provisionalIn(home, unlisted))).toEqual(said(home, unlisted).reverse());
      const types = await get<{ typename: string; count: number }[]>("/items");
      const counts = types.map(({ typename, count }) => [typename, count]);
      expect(Object.fromEntries(counts)).toMatchObject({ wirelesssensors: 5, scales: 1 });
    });

    test("a scale that was given out again has the weights of each home while it was there", async () => {
      expect(await weightsOf()).toEqual([...said(13, scale, 0, 20), ...said(12, scale, 20)].reverse());
    });

    test("the list and the night of a home are its own", async () => {
      const inventory = async (home: number) =>
        (await get<{ item: Listed }[]>(`/homes/${home}/inventory`)).map(({ item: { itemname } }) => itemname);
      const [other12, other13] = [await provisionalIn(12, unlisted), await provisionalIn(13, unlisted)];
      expect((await inventory(12)).sort()).toEqual([other12, "own-12", "scale"].sort());
      expect((await inventory(13)).sort()).toEqual(["hall", other13, "own-13", "scale"].sort());
      expect(await nightIn(12)).toEqual(
        new Map([
          ["own-12", said(12, own12).reverse()],
          [other12, said(12, unlisted).reverse()],
        ]),
      );
      expect(await nightIn(13)).toEqual(
        new Map([
          ["hall", said(13, hall).reverse()],
          ["own-13", said(13, own13).reverse()],
          [other13, said(13, unlisted).reverse()],
        ]),
      );
    });

    test("a download has of each item what its page has", async () => {
      const output = join(site.directory, "downloaded");
      const { token, text } = mintToken({ name: "keeper", scope: "admin", clock: programme.clock });
      await programme.store.addToken(token);
      const words = ["--url", programme.url, "--token", text, "--format", "ndjson", "--output", output];
      const { code, said: words2 } = await site.lintel("fetch", "--identifiers", ...words);
      expect(code === 0 ? "" : words2).toBe("");
      const events = await linesOf<{ itemname: string; event: number }>(output, "wirelesssensor_events");
      const byItem = Map.groupBy(events, ({ itemname }) => itemname);
      expect(byItem.size).toBe(5);
      for (const [name, of] of byItem)
        expect(of.map(({ event }) => event)).toEqual((await eventsOf(name)).reverse());
      const weights = await linesOf<{ weight: number }>(output, "scale_weights");
      expect(weights.map(({ weight }) => weight)).toEqual((await weightsOf()).reverse());
    });

    test("history gives a home all that it has sent, and nothing else", async () => {
      for (const [home, own] of own_of) {
        const values: number[] = [];
        let position = "";
        for (let calls = 0; calls < 10; calls += 1) {
          const response = await fetch(`${programme.url}${syncPath}/history?from=0${position}`, {
            headers: { authorization: `bearer ${homes.get(home)?.token}` },
          });
          if (response.status === 204) break;
          expect(response.status).toBe(200);
          const batch = decodeBatch(new Uint8Array(await response.arrayBuffer()));
          for (const {
            values: [first = []],
          } of Object.values(batch.series))
            values.push(...(first as Float64Array));
          const [seq = "", ...at] = (response.headers.get(positionHeader) ?? "").split(" ");
          position = `&seq=${seq}&at=${encodeURIComponent(at.join(" "))}`;
        }
        expect(values.sort()).toEqual(sent(home, own));
      }
    });

    test("a restored box has all that it has sent, and nothing of the other home, names neither", async () => {
      for (const [home, own] of own_of) {
        const box = new Site();
        try {
          const token_file = join(box.directory, "token");
          writeFileSync(token_file, homes.get(home)?.token ?? "", { mode: 0o600 });
          const upload = `[upload]\nurl = "${programme.url}"\ntoken_file = "${token_file}"`;
          box.configure({ sections: `[home]\nid = ${home}\ntimezone = "Europe/London"\n${upload}` });
          const words = ["--from-central", "--days", "3650", "--config", box.config, "--json"];
          expect(await box.answer("restore", ...words)).toMatchObject({ readings: 4 * each });
          const output = join(box.directory, "out");
          const all = ["--series", "all", "--format", "ndjson"];
          await box.lintel("export", ...all, "--output", output, "--config", box.config);
          const events = await linesOf<{ event: number }>(output, "wirelesssensor_events");
          const weights = await linesOf<{ weight: number }>(output, "scale_weights");
          const values = [...events.map(({ event }) => event), ...weights.map(({ weight }) => weight)];
          expect(values.sort()).toEqual(sent(home, own));
          const items = await box.answer("items", "--json", "--config", box.config);
          const names = items.map(({ itemname }: Listed) => itemname);
          expect(names.includes("hall")).toBe(home === 13);
          expect(names).not.toContain(home === 13 ? "own-12" : "own-13");
        } finally {
          await box.remove();
        }
      }
    });

    test("the records that a home is given hold nothing of the other home", async () => {
      const roster = async (home: number) =>
        await (
          await fetch(`${programme.url}${syncPath}/roster`, {
            headers: { authorization: `bearer ${homes.get(home)?.token}` },
          })
        ).text();
      expect(await roster(12)).not.toMatch(/hall|own-13|of 13/);
      expect(await roster(13)).not.toMatch(/own-12|of 12/);
      expect(await roster(13)).toContain("the hall of 13");
    });

    test("what the other home has heard is taken over, by time, once the inventory says that the item moved there", async () => {
      await importRecords({
        items: [{ ...item(1, "hall", hall, 12), currenthomestart: moved_s }],
        home_inventory: [
          { homeid: 13, item: 1, start: 10, stop: moved_s },
          { homeid: 12, item: 1, start: moved_s, stop: null },
        ],
      });
      expect(await eventsOf("hall")).toEqual([...said(13, hall, 0, 20), ...said(12, hall, 20)].reverse());
      expect((await nightIn(12)).get("hall")).toEqual(said(12, hall, 20).reverse());
      expect((await nightIn(13)).get("hall")).toEqual(said(13, hall, 0, 20).reverse());
    });
  },
);

const own_of = [
  [12, own12],
  [13, own13],
] as const;

interface Listed {
  readonly itemname: string;
  readonly macaddress: string;
  readonly currenthomeid: number | null;
}

async function linesOf<Line>(directory: string, series: string): Promise<Line[]> {
  const text = await Bun.file(join(directory, `${series}.ndjson`)).text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
