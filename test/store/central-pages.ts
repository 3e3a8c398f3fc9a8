import { expect, test } from "bun:test";
import { nightly } from "../../testbed/nightly.ts";
import { below, item, seeded, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { type MakeCentral, stay, take } from "./central-sample.ts";
import { anyRequest, span_s } from "./conformance.ts";
import { PageOracle } from "./page-oracle.ts";

/** Whatever arrives from several homes in whatever order and however often, central serves what sorting the stays of an item would. */
export function everyPage(make: MakeCentral): void {
  test.each(nightly ? [1, 2, 3] : [1])("answer what sorting everything once would, seed %d", async (seed) => {
    await using made = await make();
    const { store } = made;
    const random = seeded(seed);
    const oracle = new PageOracle();
    const gateways = [1, 2, 3].map((home) => new SimulatedGateway(home, `home ${home} of ${seed}`));
    const held = new Map<SimulatedGateway, number>();
    // Two sensors that every home hears now and then, and that have lived in all of them.
    await take(store, item(1), item(2));
    const start_s = Math.floor(start_ms / 1000);
    const moves = [0, 1].map(() => [0, 1].map(() => start_s + below(random, span_s)).sort());
    for (const [place, [first = 0, second = 0]] of moves.entries())
      await stay(
        store,
        { homeid: 1, item: place + 1, start: null, stop: first },
        { homeid: 2, item: place + 1, start: first, stop: second },
        { homeid: 3, item: place + 1, start: second, stop: null },
      );
    const livesIn = (number: number, stamp_ms: number) =>
      1 + (moves[number - 1] ?? []).filter((move_s) => stamp_ms >= move_s * 1000).length;
    let event = 0;
    for (let round = 0; round < 40; round += 1) {
      const gateway = gateways[below(random, gateways.length)] as SimulatedGateway;
      for (let count = below(random, 300); count > 0; count -= 1) {
        event += 1;
        gateway.add({
          device: sensor(1 + below(random, 2)),
          series: "wirelesssensor_events",
          // Many of one second and of one millisecond, some late.
          stamp_ms: start_ms + below(random, span_s) * 1000 + below(random, 3) * below(random, 400),
          fields: [event],
        });
      }
      const before = held.get(gateway) ?? 0;
      if (gateway.last_seq === before) continue;
      const from = before === 0 ? 1 : 1 + below(random, before + 1);
      const to = from + below(random, gateway.last_seq - from + 1);
      const { held_seq, taken } = await store.receive(gateway.batch(from, to), gateway.sender);
      expect({ held_seq, taken }).toEqual({
        held_seq: Math.max(before, to),
        taken: Math.max(0, to - before),
      });
      held.set(gateway, held_seq);
      for (const { device, stamp_ms, fields } of gateway.readings.slice(before, held_seq)) {
        const number = device.address.endsWith("01") ? 1 : 2;
        if (livesIn(number, stamp_ms) === gateway.home)
          oracle.keep(number, { stamp_ms, event: Number(fields[0]) }, gateway.home);
        else oracle.pass(gateway.home);
      }
      oracle.sort();
      for (let ask = 0; ask < 10; ask += 1) {
        const request = anyRequest(random, oracle);
        const page = await store.page(request);
        expect({ round, request, ...page }).toEqual({ round, request, ...oracle.page(request, page) });
      }
    }
    const { last_seq } = await store.overview();
    expect(last_seq).toBe([...held.values()].reduce((sum, seq) => sum + seq, 0));
    for (const gateway of gateways) {
      const span = { through_seq: held.get(gateway) ?? 0, from_ms: 0, before_ms: 86_400_000 * 40_000 };
      const found = await store.digests({ epoch: gateway.epoch, ...span });
      expect(found.map(({ hash }) => hash).sort()).toEqual(
        gateway
          .digests(span)
          .map(({ hash }) => hash)
          .sort(),
      );
    }
  });
}
