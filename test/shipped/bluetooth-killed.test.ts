import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { HciSimulator } from "../../drivers/ble/simulator/controller.ts";
import { addPillBox, addScale } from "../../testbed/ble-devices.ts";
import { eventually, Site } from "../../testbed/front-door.ts";
import { numbers } from "../../testbed/numbers.ts";
import { storedEvents } from "../../testbed/sqlite/stored-readings.ts";

const lives = 5;

test("kill -9 while a scale and a pill box are heard, again and again, loses and repeats nothing", async () => {
  const site = new Site();
  const random = numbers(Number(process.env["LINTEL_TEST_SEED"] ?? 7));
  const controller = await HciSimulator.listen({ transport: "pty" });
  const { scale, onAir: scaleOnAir } = addScale(controller, { composing_ms: 250 });
  const box = addPillBox(controller);
  site.configure({ sections: `[ble]\nport = "${controller.path}"\nadmit = "all"` });
  const weights: number[] = [];
  let turned = 0;
  try {
    for (let life = 0; life < lives; life += 1) {
      const gateway = await site.run();
      const weight_g = 60_000 + life * 1_000;
      const head = { shown_ms: Math.floor(Date.now() / 1000) * 1000 - 3600_000 + life * 60_000, user: 1 };
      weights.push(weight_g);
      scale.weigh({
        weight: { weight_g, ...head },
        compositions: [{ multiplePackets: false, fat_percent: 20, ...head }],
      });
      const advertising = setInterval(() => {
        scaleOnAir.advertise();
        box.repeat();
      }, 20);
      await until(() => controller.scanning, "scanning");
      box.turn(life % 7);
      turned += 1;
      const last = life === lives - 1;
      if (last) await until(() => scale.stored.length === 0, "the last confirmation");
      else await until(() => scaleOnAir.connected, "the connection");
      // Somewhere between the subscription and the last confirmation.
      if (!last) await Bun.sleep(random() * 512);
      clearInterval(advertising);
      if (last) expect(await gateway.stop()).toBe(0);
      else {
        gateway.process.kill("SIGKILL");
        await gateway.process.exited;
        scaleOnAir.disconnect();
      }
    }
    using database = new Database(join(site.data, "lintel.db"), { readonly: true });
    const weighed = database.query("SELECT weight, fatMass FROM scale_weights ORDER BY weight").all();
    expect(weighed).toEqual(weights.map((weight) => ({ weight, fatMass: weight / 5 })));
    const doors = storedEvents(database, "pillbox_events");
    const lost = database.query("SELECT sum(lost) AS lost FROM gaps").get() as { lost: number | null };
    expect(doors.length + (lost.lost ?? 0)).toBe(turned);
    expect(new Set(doors.map(({ event }) => event)).size).toBe(doors.length);
  } finally {
    await controller.close();
    await site.remove();
  }
});

function until(holds: () => boolean, what: string): Promise<true> {
  return eventually(() => holds() || undefined, what, { pause_ms: 10 });
}
