import { afterAll, beforeAll, expect, test } from "bun:test";
import { SystemClock } from "../../src/base/clock.ts";
import { meshFile } from "../../src/domain/mesh-file.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { start_ms, temporaryDirectory } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { openCentral } from "../../testbed/sqlite/opening.ts";
import { recordOf } from "../domain/records/marked-home.ts";

const clock = new SystemClock();
const place = temporaryDirectory();
afterAll(() => place[Symbol.dispose]());

const homes = [1, 2];
const addressOf = (home: number) => `0${home}:0d:6f:00:07:01`;
const nameOf = (home: number) => `marked-${home}`;
const at = (home: number) => ({ target: { home }, at_ms: start_ms, who: "lea", reason: "a letter" });

beforeAll(async () => {
  const store = await openCentral(place.path);
  for (const home of homes) {
    const told = { itemid: home, itemname: nameOf(home), typename: "pillboxes", macaddress: addressOf(home) };
    const lives = { currenthomeid: home, currenthomestart: 1 };
    const note = { noteid: home, homeid: home, kind: "guests", words: nameOf(home), start: 1, stop: null };
    await store.importRecords([
      [recordOf("items", home, { ...told, ...lives }), recordOf("notes", home, note)],
    ]);
    const box = { kind: "pillboxes", address: addressOf(home) } as const;
    const gateway = new SimulatedGateway(home, `home ${home}`).add({
      device: box,
      series: "pillbox_events",
      stamp_ms: clock.now().unix_ms - 86_400_000,
      clock: 1,
      fields: [1],
    } as never);
    await store.receive(gateway.all(), { home, at_ms: start_ms });
    const stick = { address: "00:00:00:00:00:00:00:09", role: "stick", answered: true };
    const node = { address: addressOf(home), role: "sleeper", model: nameOf(home) };
    const links = [{ by: stick.address, of: node.address, quality: 90 }];
    const scans = [{ at_ms: start_ms, nodes: [stick, node], links }];
    await store.putBackup(home, meshFile, new TextEncoder().encode(JSON.stringify({ scans })));
  }
  await store.restrict(at(2));
  await store.close();
});

const commands: Record<string, (home: number) => string[]> = {
  items: () => ["items"],
  "items --json": () => ["items", "--json"],
  "items show": (home) => ["items", "show", nameOf(home)],
  mesh: (home) => ["mesh", "--home", `${home}`],
  "mesh --json": (home) => ["mesh", "--home", `${home}`, "--json"],
  "note list": (home) => ["note", "list", "--home", `${home}`],
  report: (home) => ["report", "--home", `${home}`],
};

test.each(Object.entries(commands))(
  "lintel %s at central tells of a home, and nothing of one that is restricted",
  async (_name, words) => {
    const ask = async (home: number) => {
      const { out, said } = await lintelHere([...words(home), "--data", place.path]);
      return out + said;
    };
    const [shown, hidden] = [await ask(1), await ask(2)];
    expect(shown).toContain(nameOf(1));
    // The name that was asked for stands in the answer that there is none of that name.
    const told = hidden.replace(/^lintel: the inventory has no item \S+:/, "");
    for (const mark of [nameOf(2), addressOf(2)]) expect(told).not.toContain(mark);
  },
);
