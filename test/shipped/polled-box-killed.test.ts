import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { SimulatedBox } from "../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../drivers/pillbox/simulator/bridge.ts";
import { type RunningServer, Site } from "../../testbed/front-door.ts";
import { numbers } from "../../testbed/numbers.ts";
import { storedEvents } from "../../testbed/sqlite/stored-readings.ts";

const hour_ms = 3_600_000;
const mac = "c0:ff:ee:00:00:01";

test("kill -9 between a reply and its commit, again and again, loses no event and keeps none twice", async () => {
  const site = new Site();
  const random = numbers(Number(process.env["LINTEL_TEST_SEED"] ?? 3));
  const bridge = await BridgeSimulator.listen({ transport: "pty" });
  const box = new SimulatedBox({ mac, now_ms: Date.now, ahead_ms: -hour_ms });
  bridge.boxes.push(box);
  const now_ms = Date.now();
  for (let back = 1_440; back > 0; back -= 1) box.doors(back % 128, now_ms - back * 1_700_123);
  site.configure({ sections: `[pillbox]\nport = "${bridge.path}"` });
  try {
    for (let life = 0; life < 5; life += 1) {
      await killedAfterReplies(bridge, () => site.run(), {
        replies: 1 + (life % 3),
        delay_ms: random() * 15,
      });
    }
    const allRead = readToEnd(bridge);
    const last = await site.run();
    await allRead;
    expect(await last.stop()).toBe(0);
    const kept = eventsIn(site.data);
    expect(kept.map(({ event }) => event)).toEqual(box.history.map(({ doors }) => doors));
    const errors = kept.map(({ stamp }, index) => Math.abs(stamp - (box.history[index]?.at_ms ?? 0)));
    expect(Math.max(...errors)).toBeLessThanOrEqual(2_000);
  } finally {
    await bridge.close();
    await site.remove();
  }
});

/** Runs a gateway until so many event replies have gone out, or all, and a moment more, in which some of it may be committed. */
async function killedAfterReplies(
  bridge: BridgeSimulator,
  run: () => Promise<RunningServer>,
  { replies, delay_ms }: { replies: number; delay_ms: number },
): Promise<void> {
  const { promise: seen, resolve } = Promise.withResolvers<void>();
  let count = 0;
  bridge.onReply = (reply) => {
    if (reply.type === "setClock" || (reply.type === "events" && ++count === replies)) resolve();
    return true;
  };
  const gateway = await run();
  await seen;
  await Bun.sleep(delay_ms);
  gateway.process.kill("SIGKILL");
  await gateway.process.exited;
}

/** Resolves when the gateway sets the box's clock: it does so once everything is on disk. */
function readToEnd(bridge: BridgeSimulator): Promise<void> {
  return new Promise((resolve) => {
    bridge.onReply = (reply) => {
      if (reply.type === "setClock") resolve();
      return true;
    };
  });
}

function eventsIn(directory: string): { stamp: number; event: number }[] {
  using database = new Database(join(directory, "lintel.db"), { readonly: true });
  return storedEvents(database, "pillbox_events");
}
