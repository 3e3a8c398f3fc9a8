import { expect, test } from "bun:test";
import type { SimulatedPeripheral } from "../../../drivers/ble/simulator/peripheral.ts";
import { scan_least_ms, type Turn, Turns, waiting_max } from "../../../drivers/ble/turns.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { bthome, listening, QuickClock, recordingProduct, startRig } from "./rig.ts";

const addressOf = (number: number) => `00:00:00:00:00:${number.toString(16).padStart(2, "0")}`;

test("a device that cannot be reached holds up neither the others nor the scan", async () => {
  const turns: string[] = [];
  const { definition, heard } = recordingProduct({
    peripheral: {
      wantsConnection: () => true,
      connected: async ({ address }) => void turns.push(address),
    },
  });
  await using rig = await startRig({ products: [definition], clock: new QuickClock(5) });
  await listening(rig);
  const device = (number: number, reachable: boolean): SimulatedPeripheral => {
    const options = { address: addressOf(number), advertisement: bthome(0x40, number), connectable: true };
    const made = rig.controller.addPeripheral(options);
    made.reachable = reachable;
    return made;
  };
  const deaf = [1, 2].map((number) => device(number, false));
  const sound = [3, 4, 5].map((number) => device(number, true));
  const box = rig.controller.addPeripheral({ address: addressOf(9), advertisement: bthome(0x40, 9) });
  let boxHeard = 0;
  const fairly = () =>
    sound.every(({ connections }) => connections >= 5) && deaf.every(({ attempts }) => attempts >= 2);
  await rig.host.until("five turns of each sound device, two of each deaf one", () => {
    for (const one of [...deaf, ...sound]) one.advertise();
    if (box.advertise()) boxHeard += 1;
    return fairly();
  });
  await rig.host.until(
    "all that the controller heard",
    () =>
      heard.filter(({ advertisement }) => advertisement.address === box.address).length === boxHeard ||
      undefined,
  );
  // In turn: nobody is more than one ahead.
  const counts = sound.map(({ connections }) => connections);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  // The deaf ones rest longer each time: they are asked less often than the sound ones.
  for (const { attempts } of deaf) expect(attempts).toBeLessThan(Math.max(...counts));
  const warnings = rig.host.lines.filter((line) => line.startsWith("warn "));
  expect(warnings.map((line) => line.split(": ").slice(0, 2).join(": ")).sort()).toEqual(
    deaf.map(({ address }) => `warn recorder ${address}: no connection within 5 s`),
  );
});

/** Turns on a clock that stands still until it is told to go on. */
function standing() {
  const timers = new Set<{ at_ms: number; action: () => void }>();
  let now_ms = 0;
  const clock = {
    boot: "test",
    now: () => ({ unix_ms: now_ms, monotonic_ms: now_ms, quality: 0 as const }),
    after: (delay_ms: number, action: () => void) => {
      const timer = { at_ms: now_ms + delay_ms, action };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  const directory = temporaryDirectory();
  const host = new RecordingHost({ directory: directory.path });
  const turns = new Turns({ clock, log: host.log, dropped: (what) => host.dropped(what) });
  const pass = async (past_ms: number) => {
    now_ms += past_ms;
    for (const timer of [...timers].filter(({ at_ms }) => at_ms <= now_ms)) {
      timers.delete(timer);
      timer.action();
    }
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return { turns, host, pass, [Symbol.dispose]: directory.remove };
}

test("between two turns the controller scans for its time, and a stale request is forgotten", async () => {
  using clock = standing();
  const taken: string[] = [];
  const turnOf = (number: number): Turn => ({
    address: addressOf(number),
    name: `device ${number}`,
    take: async () => void taken.push(addressOf(number)),
  });
  clock.turns.ask(turnOf(1));
  clock.turns.ask(turnOf(2));
  clock.turns.resume();
  await clock.pass(scan_least_ms - 1);
  expect(taken).toEqual([]);
  await clock.pass(1);
  expect(taken).toEqual([addressOf(1)]);
  clock.turns.ask(turnOf(1));
  await clock.pass(scan_least_ms - 1);
  expect(taken).toEqual([addressOf(1)]);
  await clock.pass(1);
  expect(taken).toEqual([addressOf(1), addressOf(2)]);
  await clock.pass(60_000);
  expect(taken).toEqual([addressOf(1), addressOf(2)]);
});

test("a device that fails rests twice as long each time, ten minutes at most", async () => {
  using clock = standing();
  let tries = 0;
  const turn: Turn = {
    address: addressOf(1),
    name: "device",
    take: async () => {
      tries += 1;
      throw new Error("out of reach");
    },
  };
  clock.turns.resume();
  const rests: number[] = [];
  for (let failure = 1; failure <= 10; failure += 1) {
    await clock.pass(scan_least_ms);
    clock.turns.ask(turn);
    await clock.pass(scan_least_ms);
    expect(tries).toBe(failure);
    let rest_s = 0;
    while (!clock.turns.mayAsk(turn.address)) {
      await clock.pass(1_000);
      rest_s += 1;
    }
    rests.push(rest_s);
  }
  expect(rests).toEqual([5, 10, 20, 40, 80, 160, 320, 600, 600, 600]);
  expect(clock.host.lines.length).toBe(1);
});

test("nobody who asked before the adapter went has a turn after it has come back; who failed rests on, until a person waits", async () => {
  using clock = standing();
  const taken: number[] = [];
  const turnOf = (number: number): Turn => ({
    address: addressOf(number),
    name: `device ${number}`,
    take: async () => {
      taken.push(number);
      if (number === 3) throw new Error("out of reach");
    },
  });
  clock.turns.resume();
  for (const number of [3, 1, 2]) clock.turns.ask(turnOf(number));
  await clock.pass(scan_least_ms);
  expect(taken).toEqual([3]);
  await clock.turns.suspend();
  expect([1, 2, 3].map((number) => clock.turns.mayAsk(addressOf(number)))).toEqual([true, true, false]);
  clock.turns.resume();
  await clock.pass(scan_least_ms);
  expect(taken).toEqual([3]);
  clock.turns.ask(turnOf(2));
  await clock.pass(scan_least_ms);
  expect(taken).toEqual([3, 2]);
  clock.turns.endRests();
  expect(clock.turns.mayAsk(addressOf(3))).toBe(true);
});

test("the queue is bounded, and what has no place in it is counted", async () => {
  using clock = standing();
  const never = () => new Promise<void>(() => {});
  for (let number = 0; number < waiting_max + 5; number += 1) {
    clock.turns.ask({ address: addressOf(number), name: "device", take: never });
  }
  expect([...clock.host.drops]).toEqual([["Bluetooth connections that had no place in the queue", 5]]);
});
