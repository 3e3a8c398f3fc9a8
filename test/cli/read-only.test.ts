import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Item } from "../../src/domain/records/item.ts";
import { Site } from "../../testbed/front-door.ts";
import { sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import { databaseOf, openGateway } from "../../testbed/sqlite/opening.ts";
import { cardsAllowed, mountCard, mountSmall, mountsAllowed } from "../store/sqlite/mount.ts";

let site: Site;
beforeEach(() => {
  site = new Site();
});
afterEach(() => site.remove());

/** Suffixes of the database's files that remain after three events and a token, by how the gateway ended. */
const leftovers: Readonly<Record<string, readonly string[]>> = {
  "an orderly end": [""],
  "a kill": ["", "-wal", "-shm"],
  "a power cut that took the index of the log": ["", "-wal"],
};

async function fill(directory: string, left: readonly string[]): Promise<string> {
  const made = mkdtempSync(join(tmpdir(), "lintel-made-"));
  const store = await openGateway(made);
  await store.append([1, 2, 3].map((event) => sensorEvent(sensor(1), start_ms + event, event)));
  const token = await site.token("--data", made);
  if (left.length === 1) await store.close();
  for (const end of left) cpSync(databaseOf(made) + end, databaseOf(directory) + end);
  if (left.length > 1) await store.close();
  rmSync(made, { recursive: true });
  return token;
}

function remountReadOnly(path: string): void {
  expect(Bun.spawnSync(["mount", "-o", "remount,ro", path]).exitCode).toBe(0);
}

const notWritten = "cannot be written: its file system is read-only";

describe.skipIf(!mountsAllowed)("on a read-only card, after", () => {
  test.each(Object.entries(leftovers))("%s, every command that reads does", async (_, left) => {
    using card = mountSmall({ bytes: 8_000_000 });
    await fill(card.path, left);
    remountReadOnly(card.path);
    const data = ["--data", card.path];
    const status = await site.lintel("status", "--json", ...data);
    expect(status.said).toBe("");
    expect(JSON.parse(status.out)).toMatchObject({
      running: false,
      disk_read_only: true,
      store: { last_seq: 3 },
    });
    const shown = await site.lintel("status", ...data);
    expect(shown.out).toContain(`${card.path} ${notWritten}`);
    const items = await site.lintel("items", "--json", ...data);
    expect(JSON.parse(items.out)).toHaveLength(1);
    const files = join(site.directory, "files");
    const exported = await site.lintel(
      ...["export", "--series", "wirelesssensor_events", "--format", "csv", "--output", files, ...data],
    );
    expect(exported.code).toBe(0);
    const into = join(site.directory, "backup");
    const backup = await site.lintel("backup", into, "--json", ...data);
    expect([backup.code, JSON.parse(backup.out)]).toMatchObject([0, { last_seq: 3 }]);
    expect(readdirSync(card.path)).toHaveLength(left.length);
    const doctor = await site.lintel("doctor", "--json", ...data);
    const faults = JSON.parse(doctor.out).filter(({ state }: { state: string }) => state === "fault");
    expect(faults[0]).toMatchObject({
      text: `${card.path} ${notWritten}`,
      remedy: expect.stringContaining("the SD card is failing"),
    });
    expect(doctor.out).toContain("holds together: 3 readings of 1 items");
    expect(doctor.out).not.toContain("gateway's user");
  });

  test("an orderly end, a command that writes says in one line why it cannot", async () => {
    using card = mountSmall({ bytes: 8_000_000 });
    await fill(card.path, [""]);
    remountReadOnly(card.path);
    const { code, said } = await site.lintel("token", "create", "maria", "--data", card.path);
    expect([code, said]).toEqual([
      2,
      expect.stringMatching(/^lintel: \S+ cannot be written: its file .*\n$/),
    ]);
    expect(said).toContain(notWritten);
  });

  test("a start, a gateway serves what is there, says that it records nothing, and ends once it could", async () => {
    using card = mountSmall({ bytes: 8_000_000 });
    const token = await fill(card.path, ["", "-wal", "-shm"]);
    remountReadOnly(card.path);
    site.configure({ data: card.path });
    const gateway = await site.run();
    const answer = await gateway.get("/items", token);
    expect(answer.status).toBe(200);
    const items = (await (await gateway.get("/inventory/wirelesssensors", token)).json()) as Item[];
    expect(await gateway.events(items[0]?.itemname ?? "", token)).toHaveLength(3);
    const headers = { Accept: "text/html", Cookie: `lintel-${new URL(gateway.origin).port}=${token}` };
    for (const path of ["", "recorded"])
      expect((await fetch(gateway.ready.dashboard + path, { headers })).status).toBe(200);
    expect(Bun.spawnSync(["mount", "-o", "remount,rw", card.path]).exitCode).toBe(0);
    expect(await gateway.process.exited).toBe(1);
    expect(await gateway.process.said()).toContain("nothing is recorded");
  });
});

describe.skipIf(!cardsAllowed)("a card that fails under a running gateway", () => {
  test("is served from all the same, and named as what is wrong", async () => {
    using card = mountCard();
    const token = await fill(card.path, [""]);
    site.configure({ data: card.path });
    const gateway = await site.run();
    card.fail();
    const config = ["--config", site.config];
    expect((await gateway.get("/items", token)).status).toBe(200);
    const status = JSON.parse((await site.lintel("status", "--json", ...config)).out);
    expect(status).toMatchObject({ running: true, disk_read_only: true, store: { last_seq: 3 } });
    const doctor = await site.lintel("doctor", ...config);
    expect(doctor.out).toContain(`${card.path} ${notWritten}`);
    const into = join(site.directory, "backup");
    expect(await site.lintel("backup", into, ...config)).toMatchObject({ code: 0 });
    expect(existsSync(join(into, "manifest.json"))).toBe(true);
    await gateway.stop();
  });
});
