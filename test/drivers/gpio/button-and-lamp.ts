import { readFileSync, writeFileSync } from "node:fs";
import { GpioDriver } from "../../../drivers/gpio/driver.ts";
import { RecordingHost } from "../../../testbed/recording-host.ts";

// The process of driver.test.ts on a fake header: shows a state, presses the button, says what came of it.
const host = new RecordingHost({ directory: process.argv[2] ?? "." });
const driver = new GpioDriver({ config: { led: 17, button: 27, pause: 22 }, host });
const lit = () => readFileSync("/sys/class/gpio/gpio529/value", "utf8").trim() === "1";
const press = (value: 0 | 1) => writeFileSync("/proc/sys/kernel/hostname", `${value}`);

driver.show("ready");
driver.start();
await host.until("the driver to listen", () => driver.status().state === "listening");
const ready = lit();
press(1);
await host.until("a press", () => host.joiningRequests === 1);
press(0);
driver.show("joining");
await host.until("the lamp to go out", () => !lit());
await host.until("the lamp to light again", lit);
press(1);
await host.until("another press", () => host.joiningRequests === 2);
writeFileSync("/proc/sys/kernel/domainname", "1");
await host.until("a press of the other button", () => host.pauseRequests === 1);
const { detail } = driver.status();
await driver.stop();
console.log(
  JSON.stringify({
    ready,
    requests: host.joiningRequests,
    pauses: host.pauseRequests,
    detail,
    litAfterwards: lit(),
  }),
);
