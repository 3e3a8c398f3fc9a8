import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { mintToken } from "../../src/domain/token.ts";
import { openGatewayStore, openUploadStore } from "../../src/store/sqlite/open-store.ts";
import { startApi } from "../../testbed/api-server.ts";
import { Site } from "../../testbed/front-door.ts";
import { keptLog } from "../../testbed/sample.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { temporaryCentral } from "../store/sqlite/temporary-central.ts";
import { event, sensor } from "./filled.ts";

const site = new Site();
const clock = new SystemClock();
const { log } = keptLog("warn");
const stamp_ms = Date.UTC(2026, 10, 1);
afterAll(() => site.remove());

/** A batch of two readings in one millisecond, of a store of home 12. */
async function batchOf(name: string, first: number) {
  const directory = join(site.directory, name);
  const store = await openGatewayStore({ directory, clock, log, home: 12, ...writerOfTests() });
  await store.append([event(sensor(0), stamp_ms, first + 1), event(sensor(0), stamp_ms, first)]);
  const { epoch } = store;
  await store.close();
  const upload = await openUploadStore({ directory, clock, log });
  const batch = await upload.batchAfter({ epoch, after_seq: 0, readings_max: 10 });
  await upload.close();
  if (batch === undefined) throw new Error("there is nothing to upload");
  return { epoch, batch };
}

test("readings of two epochs in one millisecond have one order by fetch and export, whichever came first", async () => {
  const batches = [await batchOf("one", 1), await batchOf("other", 11)];
  batches.sort((one, other) => (one.epoch > other.epoch ? -1 : 1));
  await using central = await temporaryCentral();
  for (const { batch } of batches) await central.store.receive(batch, { home: 12, at_ms: stamp_ms });
  const { token, text } = mintToken({ name: "reader", scope: "admin", clock });
  await central.store.addToken(token);
  writeFileSync(join(site.directory, "token"), `${text}\n`);
  const listen = { hostname: "127.0.0.1", port: 0 };
  const api = await startApi({ store: central.store, clock, log, listen, realm: "lintel" });
  const words = ["--identifiers", "--series", "wirelesssensor_events", "--output"];
  const fetched = await site.lintel("fetch", "--url", api.url, "--token-file", "token", ...words, "fetched");
  const exported = await site.lintel("export", "--data", central.directory, ...words, "exported");
  await api.stop();
  expect([fetched.code, exported.code]).toEqual([0, 0]);
  const [one, other] = await Promise.all(
    ["fetched", "exported"].map((name) =>
      Bun.file(join(site.directory, name, "wirelesssensor_events.csv")).text(),
    ),
  );
  expect(one?.split("\r\n").length).toBe(6);
  expect(other).toBe(one ?? "");
});
