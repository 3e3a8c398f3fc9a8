import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreOutage } from "../../../src/base/errors.ts";
import { ownServer } from "../../../testbed/postgres/own-server.ts";
import { notOurs } from "../../../testbed/postgres/server.ts";
import { seeded, sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { mountSmall, mountsAllowed } from "../sqlite/mount.ts";
import { openCentral } from "./temporary-central.ts";

test.skipIf(!mountsAllowed || notOurs !== "")(
  `a batch that the server's disk has no room for is refused whole, what is held is served, and it is taken once there is room${notOurs}`,
  async () => {
    const server = await ownServer();
    using mount = mountSmall({ bytes: 40_000_000 });
    server.own(mount.path);
    await server.run(`CREATE TABLESPACE small LOCATION '${mount.path}'`);
    await server.run("CREATE DATABASE on_small TABLESPACE small");
    const ballast = join(mount.path, "ballast");
    const store = await openCentral(server.url("on_small"));
    const gateway = new SimulatedGateway(12, "one");
    const random = seeded(1);
    for (let event = 0; event < 20_000; event += 1) {
      // At no cadence, so that a block takes some room.
      const stamp_ms = start_ms + event * 100_000 + Math.floor(random() * 100_000);
      gateway.add({ device: sensor(1), series: "wirelesssensor_events", stamp_ms, fields: [event] });
    }
    await store.receive(gateway.batch(1, 1_000), gateway.sender);
    fill(ballast);
    const fault = await store
      .receive(gateway.batch(1_001, 20_000), gateway.sender)
      .catch((thrown: unknown) => thrown);
    expect(fault).toBeInstanceOf(StoreOutage);
    expect(fault).toMatchObject({ reason: "disk_full" });
    expect(String(fault)).toContain("free some; writing goes on by itself");
    const request = {
      series: "wirelesssensor_events",
      before_ms: start_ms * 2,
      skip: 0,
      precision: "s",
    } as const;
    expect((await store.page({ ...request, item: 1, limit: 9_999 })).records).toHaveLength(1_000);
    rmSync(ballast);
    const sent = gateway.batch(1_001, 20_000);
    expect(await store.receive(sent, gateway.sender)).toEqual({ held_seq: 20_000, taken: 19_000 });
    await store.close();
    await server.run("DROP DATABASE on_small WITH (FORCE)");
    await server.run("DROP TABLESPACE small");
  },
);

/** Writes until nothing more fits. */
function fill(path: string): void {
  for (let bytes = 1 << 20; bytes >= 4096; bytes /= 2) {
    try {
      for (;;) writeFileSync(path, new Uint8Array(bytes), { flag: "a" });
    } catch (thrown) {
      if ((thrown as { code?: string }).code !== "ENOSPC") throw thrown;
    }
  }
}
