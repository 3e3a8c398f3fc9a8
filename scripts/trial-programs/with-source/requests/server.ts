/**
 * The server that a trial asks: the interface over a store with the sample programme, to which readings are added
 * until it is told to stop. Prints a line of JSON when it is ready, and what the interface warns of on stderr.
 */
import { fill, knownOf } from "../../../../testbed/programme.ts";
import { now_ms, reading, serve } from "../../../../testbed/serving.ts";

const readings_interval_ms = 20;

const serving = await serve({ attempts_max: Number.MAX_SAFE_INTEGER, least: "warn" });
await fill(serving.store);
let stopping = false;
process.on("SIGTERM", () => {
  stopping = true;
});
console.log(JSON.stringify({ origin: new URL(serving.api.url).origin, known: knownOf(serving) }));

const device = { kind: "wirelesssensors", address: "00:0d:6f:00:0a:03" } as const;
for (let event = 0; !stopping; event += 1) {
  const stamp_ms = now_ms - (event % 20_000);
  await serving.store.append([reading(device, "wirelesssensor_events", stamp_ms, { event: event % 4 })]);
  await Bun.sleep(readings_interval_ms);
}
await serving[Symbol.asyncDispose]();
for (const line of serving.lines) process.stderr.write(`${line}\n`);
