import { expect, test } from "bun:test";
import { encodeCommand, opcode, type Report } from "../../../drivers/ble/hci.ts";
import { Radio } from "../../../drivers/ble/radio.ts";
import { HciSimulator } from "../../../drivers/ble/simulator/controller.ts";
import { openSerialLine } from "../../../drivers/wire/serial-line.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { bthome } from "./rig.ts";

test("a controller that still scans for a host that was killed is heard from its next host's first byte on", async () => {
  const directory = temporaryDirectory();
  const controller = await HciSimulator.listen({ transport: "pty", link: `${directory.path}/controller` });
  const { clock, log } = new RecordingHost({ directory: directory.path });
  const box = controller.addPeripheral({ address: "54:48:e6:8f:80:a5", advertisement: bthome(0x40, 0, 7) });
  await scanAndGoAway(controller);

  let reported = false;
  controller.onCommand = (command) => {
    // The first word of the next host ends the scan.
    if (command === opcode.reset && !reported) reported = box.advertise();
  };
  const heard: Report[] = [];
  const onReport = (report: Report) => heard.push(report) === 0;
  const options = { port: controller.path, baud: 115_200, clock, log, dropped: () => {}, onReport };
  const radio = await Radio.open(options, new AbortController().signal);
  expect(reported).toBe(true);
  expect(heard.map(({ address }) => address)).toEqual([box.address]);
  await radio.close();
  await controller.close();
  directory.remove();
});

/** Scans, as a host that is killed while it scans. */
async function scanAndGoAway(controller: HciSimulator): Promise<void> {
  const line = await openSerialLine(
    { port: controller.path, baud: 115_200, device: "the controller", section: "[ble]", onData: () => {} },
    new AbortController().signal,
  );
  const answered = (command: Buffer) =>
    new Promise<void>((resolve) => {
      controller.onCommand = () => setImmediate(resolve);
      void line.write(command);
    });
  await answered(encodeCommand(opcode.setEventMask, new Uint8Array(8).fill(0xff)));
  await answered(encodeCommand(opcode.leSetScanEnable, Uint8Array.of(1, 0)));
  expect(controller.scanning).toBe(true);
  await line.close();
}
