import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import type { DriverDefinition, Host } from "../../drivers/driver.ts";
import { clockQuality, SystemClock } from "../../src/base/clock.ts";
import { OperatorError } from "../../src/base/errors.ts";
import type { Device } from "../../src/domain/reading.ts";
import { mintToken } from "../../src/domain/token.ts";
import { ControlClient } from "../../src/gateway/control-client.ts";
import { startGateway } from "../../src/gateway/gateway.ts";
import { keptLog } from "../../testbed/sample.ts";

const data = mkdtempSync(join(tmpdir(), "lintel-words-"));
afterAll(() => rmSync(data, { recursive: true }));

const hostile = "x\u001b[2J\r\ny\u009b\u202ez";
const plain = "x[2J yz";
const device: Device = { kind: "pillboxes", address: "00:0d:6f:00:00:00:00:01", subtype: "polled" };
const told = { ...device, model: hostile, vendor: hostile };

test("whatever a driver says in any of its ways is a plain line in store, status, joining and log", async () => {
  const clock = new SystemClock();
  const { log, lines } = keptLog();
  const hosts: Host[] = [];
  let fault = {};
  const driver: DriverDefinition = {
    name: "talking",
    section: Type.Object({}),
    create: ({ host }) => {
      hosts.push(host);
      return {
        start: () => {},
        stop: async () => {},
        openJoining: async () => {},
        closeJoining: async () => {},
        status: () => ({ state: "listening", since_ms: 0, detail: hostile, ...fault }),
      };
    },
  };
  const gateway = await startGateway({
    config: {
      file: "a test",
      data,
      home: { timezone: "UTC" },
      api: { hostname: "127.0.0.1", port: 0, realm: "lintel" },
      drivers: new Map([["talking", {}]]),
      walking: [],
      warnings: [],
    },
    clock,
    log,
    drivers: [driver],
    onFailure: () => {},
  });
  const [host] = hosts as [Host];
  const { unix_ms, monotonic_ms } = clock.now();
  expect(host.admits({ device: { kind: "scales", address: "00:0d:6f:00:00:03", model: hostile } })).toBe(
    false,
  );
  const steps = new ControlClient(data).joining(60);
  expect((await steps.next()).value).toMatchObject({ state: "open" });
  fault = { problem: hostile };
  host.log.warn(`heard ${hostile}`);
  host.dropped(hostile);
  host.heard({ device: { ...told, address: "00:0d:6f:00:00:00:00:02" }, heard_ms: unix_ms });
  await host.gap({ device: told, from_ms: unix_ms - 2, to_ms: unix_ms - 1, reason: "overwritten" });
  await host.accept({
    device: told,
    series: "pillbox_status",
    stamp_ms: unix_ms,
    monotonic_ms,
    clock: clockQuality.device,
    deviceClock: { stamp_ms: unix_ms, offset_ms: 0 },
    values: {
      devicestamp: 1,
      voltage: 3_000,
      powersource: "battery",
      eventcount: 1,
      batteryseconds: hostile,
      firmwarerevsion: hostile,
      macaddress: hostile,
      nextpanicstart: 1,
      nextpanicstop: 1,
    },
  });
  host.joining({ state: "joined", device: told });
  host.joining({ state: "failed", address: hostile, reason: hostile, remedy: hostile });
  expect((await steps.next()).value).toMatchObject({ model: plain, vendor: plain });
  expect((await steps.next()).value).toMatchObject({ address: plain, reason: plain, remedy: plain });
  await steps.return(undefined);
  const { store } = gateway;
  const item = await store.item("pillboxes", "pillbox-000d6f0000000001");
  expect(item?.record).toMatchObject({ modelname: plain, vendorname: plain });
  const status = await gateway.status();
  expect(status.strangers).toMatchObject([{ device: { model: plain } }]);
  expect(status.drivers).toMatchObject([{ detail: plain, problem: plain }]);
  const { token, text } = mintToken({ name: "test", scope: "read", clock });
  await store.addToken(token);
  const page = await fetch(`${gateway.url}/items/pillboxes/pillbox-000d6f0000000001/status`, {
    headers: { authorization: `bearer ${text}`, accept: "application/json" },
  }).then((answer) => answer.json());
  expect(page).toMatchObject([{ batteryseconds: plain, firmwarerevsion: plain, macaddress: plain }]);
  await gateway.stop();
  expect(lines.join("\n")).toContain(`heard ${plain}`);
  expect(JSON.stringify([status, lines, page])).not.toMatch(/\\u|\\[rn]|[\p{Cc}\u202e]/u);
});

test("an error for an operator is a plain line in each of its parts", () => {
  const { what, remedy, message } = new OperatorError(hostile, `do\n${hostile}`);
  expect([what, remedy, message]).toEqual([plain, `do ${plain}`, `${plain}: do ${plain}`]);
});
