import { expect, test } from "bun:test";
import { openPty } from "../../../drivers/wire/pty.ts";
import { bthome, listening, QuickClock, recordingProduct, startRig } from "./rig.ts";

const box = "54:48:e6:8f:80:a5";

for (const transport of ["pty", "tcp"] as const) {
  test(`a dongle that is pulled out and put back works again, ${transport}, also five times and in a connection`, async () => {
    const lost: string[] = [];
    let connections = 0;
    const { definition, heard } = recordingProduct({
      peripheral: {
        wantsConnection: () => true,
        connected: (_connection, signal) => {
          connections += 1;
          return new Promise((_, reject) =>
            signal.addEventListener("abort", () => {
              lost.push((signal.reason as Error).message);
              reject(signal.reason);
            }),
          );
        },
      },
    });
    // Not faster: what a controller may take to answer has to suffice for a busy machine.
    await using rig = await startRig({ products: [definition], transport, clock: new QuickClock(5) });
    for (let time = 1; time <= 5; time += 1) {
      await listening(rig);
      const before = heard.length;
      const device = rig.controller.addPeripheral({
        address: `00:00:00:00:00:0${time}`,
        advertisement: bthome(0x40, time),
        connectable: true,
      });
      const advertise = () => {
        if (!device.connected) device.advertise();
      };
      await rig.host.until("the connection", () => connections === time, advertise);
      expect(heard.length).toBeGreaterThan(before);
      await rig.controller.unplug();
      await rig.host.until("the fault", () => rig.driver.status().state === "retrying");
      expect(rig.driver.status().problem).toMatch(/^the Bluetooth controller on .+: .+ \[ble\]$/);
      await rig.controller.replug();
    }
    await listening(rig);
    expect(lost.length).toBe(5);
    expect(rig.host.lines.filter((line) => /works again/.test(line)).length).toBe(5);
  });
}

test("a port that is not there is one line with the remedy, and is tried again", async () => {
  await using rig = await startRig({ products: [], port: "/dev/serial/by-id/none" });
  await rig.host.until("the line", () => rig.host.said(/it is not there: plug it in/));
  expect(rig.driver.status().state).toBe("retrying");
  expect(rig.host.lines.length).toBe(1);
});

test("another device on the port is told from a controller: what it sends, and what it does not", async () => {
  const pty = openPty();
  await using rig = await startRig({ products: [], port: pty.path, clock: new QuickClock(8) });
  void pty.write("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n");
  await rig.host.until("the line", () =>
    rig.host.said(/answers as a Bluetooth controller \(no answer to a command in 5 s\): check that the port/),
  );
  expect(rig.driver.status().state).toBe("retrying");
  pty.close();
});

test("a controller that hangs is found out by its silence, and opened again", async () => {
  await using rig = await startRig({ products: [], clock: new QuickClock(8) });
  await listening(rig);
  rig.controller.hung = true;
  await rig.host.until("the fault", () =>
    rig.host.said(
      /does not work as it should \((no answer to a command in 5 s|it does not answer a reset)\)/,
    ),
  );
  rig.controller.hung = false;
  await listening(rig);
});

test("a controller that restarts by itself is scanned with again, without a word", async () => {
  const { definition, heard } = recordingProduct({});
  await using rig = await startRig({ products: [definition], clock: new QuickClock(8) });
  await listening(rig);
  const device = rig.controller.addPeripheral({ address: box, advertisement: bthome(0x40, 1) });
  rig.controller.reboot();
  expect(device.advertise()).toBe(false);
  const advertise = () => void device.advertise();
  await rig.host.until("an advertisement", () => heard.length > 0, advertise);
  expect(rig.host.lines.length).toBe(1);
});

test("a controller that reports a hardware error is started again", async () => {
  await using rig = await startRig({ products: [] });
  await listening(rig);
  rig.controller.garbage(Uint8Array.of(0x04, 0x10, 0x01, 0x42));
  await rig.host.until("the fault", () =>
    rig.host.said(/\(it reports a hardware error\): it is started again/),
  );
  await listening(rig);
});

test("garbage on the line is counted, and what comes after it is heard", async () => {
  const { definition, heard } = recordingProduct({});
  await using rig = await startRig({ products: [definition] });
  await listening(rig);
  const device = rig.controller.addPeripheral({ address: box, advertisement: bthome(0x40, 1) });
  rig.controller.garbage(Uint8Array.from({ length: 500 }, () => 0x7e));
  // Events that end before their fields: noble reads beyond them and throws.
  rig.controller.garbage(Uint8Array.of(0x04, 0x05, 0x00, 0x04, 0x3e, 0x01, 0x02, 0x04, 0x13, 0x01, 0x09));
  rig.controller.garbage(Uint8Array.of(0x02, 0x40, 0x20, 0x02, 0x00, 0x01, 0x02));
  // An advertising report whose data goes on behind its end.
  rig.controller.garbage(Uint8Array.of(0x04, 0x3e, 0x0c, 0x02, 0x01, 3, 1, 1, 2, 3, 4, 5, 6, 99, 0));
  device.advertise();
  await rig.host.until("the advertisement", () => heard.length === 1);
  expect(rig.host.drops.get("bytes between Bluetooth packets")).toBe(500);
  expect(rig.host.drops.get("Bluetooth packets that cannot be read")).toBe(5);
  expect(rig.driver.status().state).toBe("listening");
});

test("stopping leaves no listener, timer or open connection, also while it starts or connects", async () => {
  const counts = () => ["SIGINT", "SIGTERM", "exit"].map((event) => process.listenerCount(event));
  const before = counts();
  const { definition } = recordingProduct({
    peripheral: { wantsConnection: () => true, connected: () => new Promise(() => {}) },
  });
  const starting = await startRig({ products: [definition] });
  await starting[Symbol.asyncDispose]();
  for (const reachable of [true, false]) {
    const rig = await startRig({ products: [definition], clock: new QuickClock(5) });
    await listening(rig);
    // Also while it runs: noble's own listener would end the process at Ctrl-C.
    expect(counts()).toEqual(before);
    const device = rig.controller.addPeripheral({
      address: box,
      advertisement: bthome(0x40),
      connectable: true,
    });
    device.reachable = reachable;
    device.advertise();
    await rig.host.until("the attempt", () => device.attempts === 1);
    await rig.driver.stop();
    expect(rig.driver.status().state).toBe("stopped");
    await rig.host.until("the end of the connection", () => !device.connected);
    await rig[Symbol.asyncDispose]();
  }
  expect(counts()).toEqual(before);
});
