import { expect, test } from "bun:test";
import type { ArrivalPosition } from "../../../src/store/store.ts";
import { below, item, seeded, sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { stay, take } from "../central-sample.ts";
import { temporaryCentral } from "./temporary-central.ts";

test("a walk in order of arrival misses nothing of homes that send at the same time what an item recorded in each", async () => {
  await using central = await temporaryCentral();
  const { store } = central;
  const random = seeded(5);
  const homes = [1, 2, 3].map((home) => new SimulatedGateway(home, `home ${home}`));
  for (const gateway of homes)
    for (let count = 0; count < 360; count += 1) {
      const event = gateway.home * 10_000 + count;
      const stamp_ms = start_ms + gateway.home * stay_s * 1000 + count * 700 + below(random, 40_000);
      gateway.add({ device: sensor(1), series: "wirelesssensor_events", stamp_ms, fields: [event] });
    }
  await take(store, item(1));
  for (const { home } of homes) {
    const start = start_ms / 1000 + home * stay_s;
    await stay(store, { homeid: home, item: 1, start, stop: start + stay_s });
  }
  let sending = homes.length;
  const send = async (gateway: SimulatedGateway) => {
    for (let from = 1; from <= gateway.last_seq; from += 40)
      await store.receive(gateway.batch(from, Math.min(gateway.last_seq, from + 39)), gateway.sender);
    sending -= 1;
  };
  const sent = Promise.all(homes.map(send));
  const seen: number[] = [];
  let after: ArrivalPosition | undefined;
  for (let page = 0; page < 5_000; page += 1) {
    const last = sending === 0;
    const given = after === undefined ? {} : { after };
    const answer = await store.arrivals({ ...all, ...given });
    if (answer === undefined) throw new Error("the position does not hold any more");
    seen.push(...answer.records.map(({ event }) => event as number));
    after = answer.position;
    if (last && answer.records.length < all.limit) break;
  }
  await sent;
  for (const { home } of homes) {
    const own = seen.filter((event) => Math.floor(event / 10_000) === home);
    expect(own).toEqual(Array.from({ length: 360 }, (_, count) => home * 10_000 + count));
  }
});

/** Long enough for all that a home sends. */
const stay_s = 1_000;

const all = {
  series: "wirelesssensor_events",
  item: 1,
  span: { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER },
  limit: 37,
  precision: "ms",
} as const;
