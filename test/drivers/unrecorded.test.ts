import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bytesOf } from "../../drivers/wire/example.ts";
import type { Reading } from "../../src/domain/reading.ts";
import { clockAt, exampleSets } from "../../testbed/example-sets.ts";
import { RecordingHost, temporaryDirectory } from "../../testbed/recording-host.ts";

/** Texts that tell of a reading: its times as drivers write them, and values that stand out. */
function marksOf({ stamp_ms, deviceClock, values }: Reading): string[] {
  const times = [stamp_ms, ...(deviceClock === undefined ? [] : [deviceClock.stamp_ms])];
  const texts = times.flatMap((ms) => [`${ms}`, `${Math.floor(ms / 1000)}`, ms.toString(36)]);
  const numbers = Object.values(values).filter((value) => typeof value === "number" && value >= 1_000);
  return [...texts, ...numbers.map(String)];
}

function textsIn(directory: string): string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true });
  return files.flatMap((file) =>
    file.isFile() ? [readFileSync(join(file.parentPath, file.name), "latin1")] : [],
  );
}

for (const { driver, moment, examples, feed } of exampleSets)
  for (const [what, isRecorded] of [
    ["all", () => false],
    ["only the first", (place: number) => place > 0],
  ] as const)
    test(`${driver}: what is not recorded, ${what}, is in no cursor and in no file of the driver`, async () => {
      for (const { name, bytes } of examples) {
        const directory = temporaryDirectory();
        const host = new RecordingHost({ directory: directory.path, clock: clockAt(moment) });
        host.records = (reading) => isRecorded(host.readings.indexOf(reading));
        await feed(bytesOf(bytes), host);
        const [unrecorded, recorded] = [false, true].map((is) =>
          host.readings.filter((_, place) => isRecorded(place) === is).flatMap(marksOf),
        );
        const marks = new Set(unrecorded).difference(new Set(recorded));
        const found = [...host.cursors.values(), ...textsIn(directory.path)].filter((text) =>
          marks.values().some((mark) => text.includes(mark)),
        );
        expect({ name, found }).toEqual({ name, found: [] });
        directory.remove();
      }
    });
