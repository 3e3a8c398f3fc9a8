import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import type { Driver, DriverDefinition, DriverStatus, Host } from "../../drivers/driver.ts";
import { SystemClock } from "../../src/base/clock.ts";
import { OperatorError } from "../../src/base/errors.ts";
import { lineLog } from "../../src/base/log.ts";
import { AttachedDriver } from "../../src/gateway/attached-drivers.ts";
import { ControlClient } from "../../src/gateway/control-client.ts";
import { startControl } from "../../src/gateway/control-server.ts";
import type { GatewayStatus } from "../../src/gateway/gateway-status.ts";
import { noConflict } from "../../src/gateway/ingest/device-identities.ts";
import { Joining, type JoiningStep } from "../../src/gateway/joining/joining.ts";
import { SetupVisit } from "../../src/gateway/joining/setup-visit.ts";
import type { NameStore } from "../../src/store/inventory/given-names.ts";
import { eventually } from "../../testbed/front-door.ts";

const clock = new SystemClock();
const device = {
  kind: "wirelesssensors",
  address: "00:0d:6f:00:05:a1:b2:c3",
  subtype: "wall",
  model: "3041",
} as const;

let directory = "";
let logged: string[] = [];
let stops: (() => Promise<void>)[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lintel-control-"));
  logged = [];
  stops = [];
});
afterEach(async () => {
  for (const stop of stops) await stop();
  rmSync(directory, { recursive: true });
});

/** A driver whose devices join when the test says so. */
class Doorkeeper implements Driver {
  open = false;
  refusal: Error | undefined;
  state: DriverStatus["state"] = "listening";
  problem: string | undefined;
  start() {}
  async stop() {}
  status(): DriverStatus {
    const { state, problem } = this;
    return { state, since_ms: 0, detail: "", ...(problem === undefined ? {} : { problem }) };
  }
  async openJoining() {
    if (this.refusal !== undefined) throw this.refusal;
    this.open = true;
  }
  async closeJoining() {
    this.open = false;
  }
}

function attach(driver: Driver | (() => never)): AttachedDriver {
  const definition: DriverDefinition = {
    name: "doors",
    section: Type.Object({}),
    create: () => (typeof driver === "function" ? driver() : driver),
  };
  return new AttachedDriver({ definition, config: {}, host: {} as Host, clock, log: log() });
}

function log() {
  return lineLog({ write: (line) => logged.push(line), clock, journal: true });
}

function control(drivers: readonly AttachedDriver[], at = directory) {
  const changes: string[] = [];
  const joining = new Joining({
    drivers: () => drivers,
    clock,
    log: log(),
    changed: (change) => changes.push(change),
  });
  const status = async () => ({ version: "9.9.9", joining: joining.isOpen }) as GatewayStatus;
  const identities = {
    settle: async (address: string) => Promise.reject(noConflict(address)),
    forget: async () => {},
  };
  const admission = { load: async () => {} };
  const none = async () => Promise.reject(new Error("no mesh"));
  const mesh = { scan: none, noise: none };
  const ingest = { flush: async () => void changes.push("flushed") };
  const server = startControl({ directory: at, joining, ingest, admission, identities, mesh, status, clock });
  stops.push(() => server.stop());
  return { joining, changes, client: new ControlClient(at) };
}

test("a pairing tells when it opens, of each device, and when it closes", async () => {
  const keeper = new Doorkeeper();
  const { joining, changes, client } = control([attach(keeper)]);
  const steps: JoiningStep[] = [];
  for await (const step of client.joining(60)) {
    steps.push(step);
    if (step.state === "open") {
      expect(keeper.open).toBe(true);
      expect((await client.statusIfRunning())?.joining).toBe(true);
      joining.note({ state: "started", address: device.address });
      joining.note({ state: "joined", device });
      joining.note({ state: "failed", address: "aa:bb", reason: "it fell silent", remedy: "move it nearer" });
    }
    if (step.state === "failed") await client.closeJoining();
  }
  expect(steps).toEqual([
    { state: "open", seconds: 60, drivers: ["doors"] },
    { state: "started", address: device.address },
    { state: "joined", ...device },
    { state: "failed", address: "aa:bb", reason: "it fell silent", remedy: "move it nearer" },
    { state: "closed", joined: 1, failed: 1 },
  ]);
  expect(keeper.open).toBe(false);
  expect(changes).toEqual(["opened", "joined", "closed"]);
});

test("what was heard is brought to disk for who asks, and nobody waits for a gateway that does not run", async () => {
  const { changes, client } = control([]);
  await client.flush();
  expect(changes).toEqual(["flushed"]);
  await new ControlClient(join(directory, "nothing")).flush();
});

test("joining closes by itself when its seconds are over", async () => {
  const keeper = new Doorkeeper();
  const { client } = control([attach(keeper)]);
  const states: string[] = [];
  for await (const step of client.joining(1)) states.push(step.state);
  expect(states).toEqual(["open", "closed"]);
  expect(keeper.open).toBe(false);
});

test("joining in which nothing happens stays open for its seconds, whoever waits for it", async () => {
  const { client } = control([attach(new Doorkeeper())]);
  const states: string[] = [];
  // Bun ends a connection on which nothing is said after 10 s, unless it is told not to.
  for await (const step of client.joining(13)) states.push(step.state);
  expect(states).toEqual(["open", "closed"]);
});

test("what does not get in because the gateway stops is no warning", async () => {
  const { joining } = control([attach(new Doorkeeper())]);
  const failed = {
    state: "failed",
    address: "aa:bb",
    reason: "joining was closed",
    remedy: "try again",
  } as const;
  joining.note(failed);
  await joining.stop();
  joining.note(failed);
  expect(logged.map((line) => line.slice(0, 3))).toEqual(["<4>", "<6>"]);
});

test("the button on the box opens joining, and pressed again closes it", async () => {
  const keeper = new Doorkeeper();
  const { joining, changes } = control([attach(keeper)]);
  joining.press();
  await eventually(() => (changes.includes("opened") ? true : undefined), "it opens");
  expect(keeper.open).toBe(true);
  joining.press();
  await eventually(() => (changes.includes("closed") ? true : undefined), "it closes");
  expect({ open: keeper.open, isOpen: joining.isOpen }).toEqual({ open: false, isOpen: false });
});

test("a button that cannot open joining is one line in the log", async () => {
  const { joining } = control([]);
  joining.press();
  await eventually(() => (logged.length > 0 ? true : undefined), "the line");
  expect(logged).toEqual([
    "<4>no driver of this gateway lets devices join: add a [zigbee] or [ble] section to its configuration and restart it\n",
  ]);
});

test("joining closes when the one who opened it goes away", async () => {
  const keeper = new Doorkeeper();
  const { changes, client } = control([attach(keeper)]);
  const closed = Promise.withResolvers<void>();
  keeper.closeJoining = async () => {
    keeper.open = false;
    closed.resolve();
  };
  for await (const step of client.joining(60)) {
    expect(step.state).toBe("open");
    break;
  }
  await closed.promise;
  expect(changes[0]).toBe("opened");
});

test("a second pairing is refused while the first is open", async () => {
  const { client } = control([attach(new Doorkeeper())]);
  for await (const _ of client.joining(60)) {
    const second = client.joining(60).next();
    await expect(second).rejects.toThrow(
      "joining is open already: wait until it closes, or stop the other lintel pair",
    );
    break;
  }
});

test("joining that is opened while it is still being closed is open afterwards", async () => {
  const keeper = new Doorkeeper();
  const { joining } = control([attach(keeper)]);
  const asked = Promise.withResolvers<void>();
  const shut = Promise.withResolvers<void>();
  keeper.closeJoining = async () => {
    asked.resolve();
    // A radio is told in several steps, the last of which shuts it.
    await shut.promise;
    keeper.open = false;
  };
  await joining.open(60, () => {});
  const closed = joining.close();
  await asked.promise;
  const opened = joining.open(60, () => {});
  shut.resolve();
  await Promise.all([closed, opened]);
  expect({ open: keeper.open, isOpen: joining.isOpen }).toEqual({ open: true, isOpen: true });
});

test("a tap on a page while somebody else is letting devices in is no fault, and the page says what is going on", async () => {
  const keeper = new Doorkeeper();
  keeper.state = "starting";
  const { joining } = control([attach(keeper)]);
  const store = {} as NameStore;
  const identities = { changes: 0, conflicts: () => [], settle: () => Promise.reject() };
  const walk = new SetupVisit({ joining, identities, store, clock, lines: [] });
  const opened = joining.open(60, () => {});
  const before = walk.changes;
  walk.open();
  expect(walk.state).toMatchObject({ joining: "waiting", problem: null });
  keeper.state = "listening";
  await opened;
  expect(walk.state).toMatchObject({ joining: "open", problem: null });
  expect(walk.changes).toBeGreaterThan(before);
  await walk.close();
  expect(walk.state.joining).toBe("closed");
});

test("a pairing that no driver can open says what stands in the way", async () => {
  const keeper = new Doorkeeper();
  keeper.refusal = new OperatorError("the adapter is missing", "plug it in");
  const { joining, client } = control([attach(keeper)]);
  await expect(client.joining(60).next()).rejects.toThrow(
    "no driver could open joining (doors the adapter is missing: plug it in): see lintel status, correct it and try again",
  );
  expect(joining.isOpen).toBe(false);
});

test("a pairing waits for a driver that is starting, and says so", async () => {
  const keeper = new Doorkeeper();
  keeper.state = "starting";
  const { joining, client } = control([attach(keeper)]);
  const steps: JoiningStep[] = [];
  for await (const step of client.joining(60)) {
    steps.push(step);
    if (step.state === "waiting") {
      expect({ open: keeper.open, isOpen: joining.isOpen }).toEqual({ open: false, isOpen: false });
      keeper.state = "listening";
    } else await client.closeJoining();
  }
  expect(steps).toEqual([
    { state: "waiting", drivers: ["doors"] },
    { state: "open", seconds: 60, drivers: ["doors"] },
    { state: "closed", joined: 0, failed: 0 },
  ]);
});

test("a pairing that waits ends with what is wrong with the driver, as soon as the driver knows", async () => {
  const keeper = new Doorkeeper();
  keeper.state = "starting";
  const { joining, client } = control([attach(keeper)]);
  const steps = client.joining(60);
  expect((await steps.next()).value).toEqual({ state: "waiting", drivers: ["doors"] });
  keeper.state = "retrying";
  keeper.problem = "the adapter is not there: plug it in";
  const refusal =
    "no driver could open joining (doors the adapter is not there: plug it in): see lintel status, correct it and try again";
  await expect(steps.next()).rejects.toThrow(refusal);
  expect(joining.isOpen).toBe(false);
  // At once, where it is known before.
  await expect(client.joining(60).next()).rejects.toThrow(refusal);
  expect(keeper.open).toBe(false);
});

test("a pairing that waits can be ended, and the driver is left alone", async () => {
  const keeper = new Doorkeeper();
  keeper.state = "starting";
  const { changes, client } = control([attach(keeper)]);
  const states: string[] = [];
  for await (const step of client.joining(60)) {
    states.push(step.state);
    await client.closeJoining();
  }
  expect(states).toEqual(["waiting", "closed"]);
  expect(changes).toEqual([]);
  keeper.state = "listening";
  for await (const step of client.joining(60)) {
    expect(step.state).toBe("open");
    break;
  }
});

test("a new network is formed before joining opens, where there is another to give up", async () => {
  const keeper = new Doorkeeper() as Doorkeeper & { formNewNetwork(): void };
  keeper.state = "retrying";
  keeper.problem = "the adapter holds another network: bring its files";
  keeper.formNewNetwork = () => {
    keeper.state = "starting";
    keeper.problem = undefined;
  };
  const { client } = control([attach(keeper)]);
  await expect(client.joining(60).next()).rejects.toThrow(
    "the adapter holds another network: bring its files",
  );
  const states: string[] = [];
  for await (const step of client.joining(60, { newNetwork: true })) {
    states.push(step.state);
    keeper.state = "listening";
    if (step.state === "open") await client.closeJoining();
  }
  expect(states).toEqual(["waiting", "open", "closed"]);
  keeper.formNewNetwork = () => {
    throw new OperatorError("the adapter holds no other network", "leave --new-network away");
  };
  const refused = client.joining(60, { newNetwork: true }).next();
  await expect(refused).rejects.toThrow("the adapter holds no other network: leave --new-network away");
  expect(keeper.open).toBe(false);
});

test("a gateway without a driver that lets devices in says so", async () => {
  const { client } = control([]);
  await expect(client.joining(60).next()).rejects.toThrow("no driver of this gateway lets devices join");
});

test("only its own user may open the socket, and it is gone after the stop", async () => {
  control([]);
  const socket = join(directory, "control.sock");
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  await stops.pop()?.();
  expect(existsSync(socket)).toBe(false);
});

test("the socket of a gateway that was killed is taken for nobody, and taken over", async () => {
  const killed = Bun.spawn(
    [
      process.execPath,
      "-e",
      `Bun.serve({unix:${JSON.stringify(join(directory, "control.sock"))},fetch:()=>new Response()});console.log("up")`,
    ],
    { stdout: "pipe", stderr: "inherit" },
  );
  await killed.stdout.getReader().read();
  killed.kill("SIGKILL");
  await killed.exited;
  const client = new ControlClient(directory);
  expect(await client.statusIfRunning()).toBeUndefined();
  await expect(client.joining(60).next()).rejects.toThrow(`no gateway is running on ${directory}`);
  control([]);
  expect((await client.statusIfRunning())?.version).toBe("9.9.9");
});

test("a data directory whose path is longer than a socket's may be is served all the same", async () => {
  const deep = join(directory, "d".repeat(150));
  mkdirSync(deep);
  const { client } = control([], deep);
  expect((await client.statusIfRunning())?.version).toBe("9.9.9");
});

test("whoever claims an address is settled by a known answer alone, and an answer without an end is not read", async () => {
  const { client } = control([]);
  const ask = (answer: string) =>
    fetch(`http://gateway/conflicts?address=aa&answer=${answer}&by=me`, {
      method: "POST",
      unix: join(directory, "control.sock"),
    });
  const said = async (answer: string) => [
    (await ask(answer)).status,
    JSON.stringify(await (await ask(answer)).json()),
  ];
  const none = noConflict("aa").what;
  for (const answer of ["accepted", "refused"]) expect((await said(answer))[1]).toContain(none);
  expect(await said("acepted")).toEqual([409, expect.stringContaining("acepted")]);
  expect(await client.settleConflict("aa", "accepted", "me").catch(String)).toContain(none);
  await stops.pop()?.();
  let sent = 0;
  const endless = Bun.serve({
    unix: join(directory, "control.sock"),
    fetch: () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            sent += 1;
            if (sent < 1_000) controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
            else controller.close();
          },
        }),
      ),
  });
  stops.push(() => endless.stop(true));
  expect(await client.settleConflict("aa", "accepted", "me").catch(String)).toContain(
    "does not speak as a gateway",
  );
  expect(sent).toBeLessThan(500);
});

test("where nothing is, no gateway is running", async () => {
  expect(await new ControlClient(directory).statusIfRunning()).toBeUndefined();
  expect(await new ControlClient(join(directory, "none")).statusIfRunning()).toBeUndefined();
  writeFileSync(join(directory, "control.sock"), "");
  expect(await new ControlClient(directory).statusIfRunning()).toBeUndefined();
});

test("a driver that throws takes nobody with it: one line, and its status says so", () => {
  const broken = attach(() => {
    throw new Error("no such\nthing");
  });
  broken.start();
  broken.show("ready");
  expect(broken.status()).toMatchObject({
    state: "stopped",
    problem: "could not be set up (no such thing): the other drivers go on; restart the gateway to try again",
  });
  expect(logged).toEqual([
    "<3>could not be set up (no such thing): the other drivers go on; restart the gateway to try again\n",
  ]);
});
