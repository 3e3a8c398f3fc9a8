import { expect, test } from "bun:test";
import { SystemClock } from "../../src/clock.ts";
import { openGatewayStore, openUploadStore } from "../../src/store/sqlite/open.ts";
import { gatherHomeFiles, putHomeFiles } from "../../src/uploader/home-files.ts";
import { keptLog, reading, start_ms, temporaryDirectory } from "../store/sample.ts";

test("a spare box listens to the devices that the lost one had admitted", async () => {
  using lost = temporaryDirectory();
  using spare = temporaryDirectory();
  const admitted = [
    { address: "54:48:e6:8f:80:a5", admitted_ms: start_ms, reason: "hand" },
    { address: "c0:ff:ee:00:18:1d", admitted_ms: start_ms + 1, reason: "joining" },
  ] as const;
  await opened(lost.path, (store) => store.admit(admitted));
  await opened(spare.path, async () => {});
  putHomeFiles(spare.path, gatherHomeFiles(lost.path));
  expect(await opened(spare.path, (store) => store.admissions())).toEqual({ inventory: [], admitted });
});

test("a cursor is not told while a reading before it waits for the time: central would not get it, and its device would not be asked again", async () => {
  using place = temporaryDirectory();
  const box = { kind: "pillboxes", address: "00:0d:6f:00:07:01", subtype: "polled" } as const;
  const taken = reading(box, "pillbox_events", start_ms, { event: 1 });
  const boot = { boot: "in the dark", seen_ms: 7_000, timeline: undefined };
  const cursors = new Map([["box", "1"]]);
  const store = await openGatewayStore({
    directory: place.path,
    clock: new SystemClock(),
    log: keptLog().log,
  });
  await store.append([], {
    boots: [boot],
    held: [{ boot: boot.boot, monotonic_ms: 6_000, fact: { reading: taken } }],
    cursors,
  });
  expect([...gatherHomeFiles(place.path).keys()]).not.toContain("cursors.json");
  const [{ id } = { id: 0 }] = await store.waiting(1);
  await store.append([taken], { released: [id] });
  await store.close();
  const told = new TextDecoder().decode(gatherHomeFiles(place.path).get("cursors.json"));
  expect(JSON.parse(told)).toMatchObject({ last_seq: 1, cursors: { box: "1" } });
});

/** Opens the store of a directory, made where it is missing, for as long as `use` takes. */
async function opened<Result>(
  directory: string,
  use: (store: Awaited<ReturnType<typeof openUploadStore>>) => Promise<Result>,
): Promise<Result> {
  const store = await openUploadStore({
    directory,
    clock: new SystemClock(),
    log: keptLog().log,
    create: true,
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
