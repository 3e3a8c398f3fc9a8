import { expect, test } from "bun:test";
import { join } from "node:path";
import { bytesOf } from "../../drivers/wire/example.ts";
import { faultOfGap, faultOfReading } from "../../src/gateway/ingest/validity.ts";
import { clockAt, exampleSets } from "../../testbed/example-sets.ts";
import { RecordingHost, temporaryDirectory } from "../../testbed/recording-host.ts";

for (const { driver, moment, examples, feed } of exampleSets) {
  for (const { name, bytes, readings, gaps = [], dropped = {} } of examples) {
    test(`${driver}: ${name}`, async () => {
      const directory = temporaryDirectory();
      try {
        const host = new RecordingHost({ directory: join(directory.path, driver), clock: clockAt(moment) });
        await feed(bytesOf(bytes), host);
        expect(host.readings.length).toBe(readings.length);
        expect(host.readings).toMatchObject(readings as object[]);
        expect(host.gaps.length).toBe(gaps.length);
        expect(host.gaps).toMatchObject(gaps as object[]);
        expect(host.readings.map(faultOfReading)).toEqual(readings.map(() => undefined));
        expect(host.gaps.map(faultOfGap)).toEqual(gaps.map(() => undefined));
        expect(Object.fromEntries(host.drops)).toEqual(dropped);
      } finally {
        directory.remove();
      }
    });
  }
}
