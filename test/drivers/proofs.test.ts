import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { clockAt, provenTables } from "../../testbed/example-sets.ts";
import { RecordingHost, temporaryDirectory } from "../../testbed/recording-host.ts";

const directory = temporaryDirectory();
afterAll(() => directory.remove());
let hosts = 0;

for (const { name, rows, proofs, moment, feed } of provenTables) {
  test(`${name}: every row has a proof, and each of its messages is recorded as the specification says`, async () => {
    expect(Object.keys(proofs).toSorted()).toEqual([...rows].toSorted());
    const told: unknown[] = [];
    const expected: unknown[] = [];
    for (const [row, [source, ...messages]] of Object.entries(proofs)) {
      expect([row, source.length, messages.length]).toEqual([row, expect.any(Number), expect.any(Number)]);
      expect(messages.length).toBeGreaterThan(0);
      for (const [message, wanted] of messages) {
        const host = new RecordingHost({
          directory: join(directory.path, String(hosts++)),
          clock: clockAt(moment),
        });
        told.push([row, message, (await feed(message, host, row)) ?? recorded(host)]);
        expected.push([row, message, wanted]);
      }
    }
    expect(told).toEqual(expected);
  });
}

/** All that a host was handed, in words. */
function recorded({ readings, states, gaps, drops }: RecordingHost): string {
  return [
    ...readings.map(({ series, values }) =>
      series === "wirelesssensor_measures"
        ? `${values["quantity"]} ${values["value"]} ${values["unit"]}`.trim()
        : Object.entries(values)
            .flatMap(([field, value]) => (value === null ? [] : `${field} ${value}`))
            .join(" "),
    ),
    ...states.flatMap(({ battery_percent }) =>
      battery_percent === undefined ? [] : `battery ${battery_percent} %`,
    ),
    ...states.flatMap(({ battery_mv }) => (battery_mv === undefined ? [] : `battery ${battery_mv} mV`)),
    ...gaps.map(({ reason, from_ms, to_ms }) => `gap ${reason} ${to_ms - from_ms} ms`),
    ...[...drops.keys()].map((what) => `dropped ${what}`),
  ].join(", ");
}
