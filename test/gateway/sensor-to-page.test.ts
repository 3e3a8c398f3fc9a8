import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ZnpSimulator } from "../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../drivers/zigbee/simulator/device.ts";
import { Random } from "../../src/demo/random.ts";
import { eventually, type RunningServer, Site } from "../shipped/front-door.ts";

/** From one start to the listening radio; a coordinator forms its network in about three seconds. */
const start_max_ms = 30_000;

for (const transport of ["tcp", "pty"] as const) {
  describe(`a sensor on a simulated stick on ${transport}`, () => {
    const site = new Site();
    const random = new Random(11);
    let simulator: ZnpSimulator;
    let gateway: RunningServer;
    let token = "";
    let sensor: SimulatedDevice;
    let name = "";

    beforeAll(async () => {
      simulator = await ZnpSimulator.listen({ transport, random: (length) => random.bytes(length) });
      site.configure({ sections: `[zigbee]\nport = "${simulator.path}"\nadapter = "zstack"` });
      gateway = await site.run();
      token = await site.token();
      sensor = simulator.addDevice({ model: "3041" });
      name = `wirelesssensor-${sensor.ieee.replaceAll(":", "")}`;
      await listening(site);
    }, start_max_ms);
    afterAll(async () => {
      await simulator.close();
      await site.remove();
    });

    test(
      "joins while lintel pair runs, which tells each step as a line of JSON",
      async () => {
        expect(sensor.join()).toBe(false);
        const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
        expect(JSON.parse((await pair.line()) ?? "")).toEqual({
          state: "open",
          seconds: 60,
          drivers: ["zigbee"],
        });
        expect(sensor.join()).toBe(true);
        expect(JSON.parse((await pair.line()) ?? "")).toEqual({
          state: "joined",
          address: sensor.ieee,
          kind: "wirelesssensors",
          subtype: "wall",
          model: "3041",
          vendor: "NYCE",
        });
        pair.kill("SIGINT");
        expect(JSON.parse((await pair.line()) ?? "")).toEqual({ state: "closed", joined: 1, failed: 0 });
        expect(await pair.exited).toBe(0);
        expect(await eventually(() => (simulator.joiningOpen ? undefined : "closed"), "joining closes")).toBe(
          "closed",
        );
      },
      start_max_ms,
    );

    test("is an item as soon as it has joined, before it says anything", async () => {
      const items = await eventually(async () => {
        const { out } = await site.lintel("items", "--json", "--data", site.data);
        return out === "[]\n" ? undefined : JSON.parse(out);
      }, "the item");
      expect(items).toMatchObject([{ itemname: name }]);
    });

    test("sends three notifications within a second that come back as three events, newest first", async () => {
      for (const event of [0x32, 0x30, 0x33]) sensor.notify(event);
      const events = await eventually(async () => {
        const found = await gateway.events(name, token).catch(() => []);
        return found.length >= 3 ? found : undefined;
      }, "three events");
      expect(events.map(({ event }) => event).slice(0, 3)).toEqual([0x33, 0x30, 0x32]);
    });

    test("is served to nobody without a token", async () => {
      expect((await gateway.get(`/items/wirelesssensors/${name}/events`, "none")).status).toBe(401);
    });

    test("is seen in lintel status and lintel items", async () => {
      const status = JSON.parse((await site.lintel("status", "--json", "--data", site.data)).out);
      expect(status).toMatchObject({ running: true, url: gateway.url, joining: false });
      expect(status.drivers).toMatchObject([{ name: "zigbee", state: "listening" }]);
      const shown = await site.lintel("status", "--data", site.data);
      expect(shown.out).toMatch(new RegExp(`^${name}\\*? +wall `, "m"));
      const [item] = JSON.parse((await site.lintel("items", "--json", "--data", site.data)).out);
      expect(item).toMatchObject({ itemname: name, macaddress: sensor.ieee, subtypename: "wall" });
    });

    test(
      "loses nothing that was served to kill -9, and is heard again without pairing",
      async () => {
        let sent = 0x100;
        for (let round = 0; round < 2; round++) {
          const first = sent;
          const served_max = first + Math.floor(random.between(5, 60));
          // Events keep coming while the process is killed, at whatever it is doing then.
          let newest = 0;
          while (newest < served_max) {
            sensor.notify(++sent);
            const page = await gateway.get(`/items/wirelesssensors/${name}/events?limit=1`, token);
            newest = ((await page.json()) as { event: number }[])[0]?.event ?? 0;
          }
          sensor.notify(++sent);
          gateway.process.kill("SIGKILL");
          await gateway.process.exited;
          gateway = await site.run();
          const kept = (await gateway.events(name, token))
            .map(({ event }) => event)
            .filter((event) => event > first);
          expect(kept.filter((event) => event <= newest)).toEqual(
            Array.from({ length: newest - first }, (_, back) => newest - back),
          );
          expect(new Set(kept).size).toBe(kept.length);
          await listening(site);
          expect(simulator.joiningOpen).toBe(false);
          sensor.notify(++sent);
          await eventually(async () => {
            const [event] = await gateway.events(name, token);
            return event?.event === sent ? true : undefined;
          }, `event ${sent} after the restart`);
        }
      },
      2 * start_max_ms,
    );

    test("leaves with the gateway on SIGTERM, exit 0", async () => {
      expect(await gateway.stop("SIGTERM")).toBe(0);
      const status = JSON.parse((await site.lintel("status", "--json", "--data", site.data)).out);
      expect(status.running).toBe(false);
      expect(status.store.items).toHaveLength(1);
    });
  });
}

/** Waits until the gateway's driver hears its stick. */
async function listening(site: Site): Promise<void> {
  await eventually(async () => {
    const { out } = await site.lintel("status", "--json", "--data", site.data);
    return JSON.parse(out).drivers?.[0]?.state === "listening" ? true : undefined;
  }, "the driver listens");
}
