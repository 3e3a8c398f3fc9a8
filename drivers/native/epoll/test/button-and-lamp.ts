import { writeFileSync } from "node:fs";
import { Gpio } from "onoff";

// The other process of onoff.test.ts: a button on 27 and a lamp on 17, as any program with onoff has them.
// It presses the button itself, and says as JSON what it heard.
const press = (value: 0 | 1) => writeFileSync("/proc/sys/kernel/hostname", `${value}`);

const lamp = new Gpio(17, "out");
lamp.writeSync(1);
const lit = lamp.readSync();
await lamp.write(0);
const dark = lamp.readSync();

const button = new Gpio(27, "in", "both");
const both: number[] = [];
for (const value of [1, 0, 1, 0, 1, 0] as const) {
  const { promise, resolve } = Promise.withResolvers<void>();
  button.watch((error, heard) => {
    if (error) throw error;
    both.push(heard);
    resolve();
  });
  press(value);
  await promise;
  button.unwatchAll();
}
button.unexport();

const rising = new Gpio(27, "in", "rising", { debounceTimeout: 5 });
const presses: number[] = [];
const { promise, resolve } = Promise.withResolvers<void>();
rising.watch((_, value) => {
  presses.push(value);
  resolve();
});
for (const value of [1, 0, 1, 0, 1] as const) press(value);
await promise;
rising.unexport();
lamp.unexport();

// Nothing is watched any more: the process ends by itself.
console.log(JSON.stringify({ accessible: Gpio.accessible, lit, dark, both, presses }));
