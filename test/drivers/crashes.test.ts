import { expect, test } from "bun:test";
import { join } from "node:path";
import { bthomeExamples } from "../../drivers/bthome/examples.ts";
import { mqttExamples } from "../../drivers/mqtt/examples.ts";
import { scaleBroadcastExamples, scaleExamples } from "../../drivers/scale/examples.ts";
import { watchExamples } from "../../drivers/watch/examples.ts";
import { bytesOf } from "../../drivers/wire/example.ts";
import type { BufferCursor, Gap, Reading } from "../../src/domain/reading.ts";
import { clockAt } from "../../testbed/example-sets.ts";
import { RecordingHost, temporaryDirectory } from "../../testbed/recording-host.ts";

/** A gateway that dies when it is to take one more record than `commits_max`: nothing is answered any more. */
class DyingHost extends RecordingHost {
  commits_max = Number.POSITIVE_INFINITY;
  readonly dead = Promise.withResolvers<void>();
  readonly committed: Reading[] = [];

  override async accept(reading: Reading, cursor?: BufferCursor): Promise<boolean> {
    await this.#commit(cursor);
    this.committed.push(reading);
    return true;
  }

  override async gap(_: Gap, cursor?: BufferCursor): Promise<void> {
    await this.#commit(cursor);
  }

  async #commit(cursor: BufferCursor | undefined): Promise<void> {
    this.commits_max -= 1;
    if (this.commits_max < 0) {
      this.dead.resolve();
      await new Promise(() => {});
    }
    if (cursor !== undefined) this.cursors.set(cursor.name, cursor.value);
  }
}

const shape = ({ series, stamp_ms, values }: Reading) => ({ series, stamp_ms, values });

// Devices that tell again what nobody confirmed.
for (const { driver, moment, examples, feed } of [watchExamples, scaleExamples]) {
  for (const { name, bytes } of examples) {
    test(`${driver}: ${name}: killed before any record, a gateway that starts again has each reading once`, async () => {
      const directory = temporaryDirectory();
      const hostOf = (run: string) =>
        new DyingHost({ directory: join(directory.path, run), clock: clockAt(moment) });
      const whole = hostOf("whole");
      await feed(bytesOf(bytes), whole);
      for (let commits = 0; commits <= whole.committed.length; commits += 1) {
        const first = hostOf(`killed ${commits}`);
        first.commits_max = commits;
        await Promise.race([feed(bytesOf(bytes), first), first.dead.promise]);
        const again = hostOf(`killed ${commits}`);
        for (const [cursor, value] of first.cursors) again.cursors.set(cursor, value);
        await feed(bytesOf(bytes), again);
        const all = [...first.committed, ...again.committed].map(shape);
        expect({ commits, all }).toEqual({ commits, all: whole.committed.map(shape) });
      }
      directory.remove();
    });
  }
}

// A broker tells again what nobody acknowledged: once more is better than not at all.
const several = `zigbee2mqtt/0x00158d0001a2b3c4 {"occupancy":true,"temperature":21.5,"humidity":40,"last_seen":1800000000100}`;
for (const { name, bytes } of [
  ...mqttExamples.examples,
  { name: "several readings of one message", bytes: Buffer.from(several).toString("hex") },
]) {
  test(`mqtt: ${name}: killed before any record, a gateway that is told again has each reading`, async () => {
    const { moment, feed } = mqttExamples;
    const directory = temporaryDirectory();
    const host = () => new DyingHost({ directory: directory.path, clock: clockAt(moment) });
    const whole = host();
    await feed(bytesOf(bytes), whole);
    for (let commits = 0; commits <= whole.committed.length; commits += 1) {
      const [first, again] = [host(), host()];
      first.commits_max = commits;
      await Promise.race([feed(bytesOf(bytes), first), first.dead.promise]);
      for (const [cursor, value] of first.cursors) again.cursors.set(cursor, value);
      await feed(bytesOf(bytes), again);
      const all = [...first.committed, ...again.committed].map(shape);
      expect({ commits, all }).toEqual({ commits, all: expect.arrayContaining(whole.committed.map(shape)) });
    }
    directory.remove();
  });
}

// A box broadcasts each change several times: of what came before a kill, only the newest comes again.
const boxes = bthomeExamples.examples.filter(({ readings }) =>
  readings.some(({ series }) => series === "pillbox_events"),
);
test.each(boxes.map(({ name, bytes, readings }) => [name, bytes, readings] as const))(
  "bthome: %s: killed before any record, a gateway that starts again has each event once",
  async (_, hex, readings) => {
    const { moment, feed } = bthomeExamples;
    const bytes = bytesOf(hex);
    const broadcasts: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += 1 + (bytes[at] ?? 0))
      broadcasts.push(bytes.slice(at, at + 1 + (bytes[at] ?? 0)));
    const directory = temporaryDirectory();
    for (let commits = 0; commits <= readings.length + 1; commits += 1) {
      let host = new DyingHost({ directory: directory.path, clock: clockAt(moment) });
      host.commits_max = commits;
      for (let next = 0; next < broadcasts.length; ) {
        const died = host.dead.promise.then(() => true);
        const fed = Promise.resolve(feed(broadcasts[next] ?? bytes, host)).then(() => false);
        if (!(await Promise.race([fed, died]))) {
          next += 1;
          continue;
        }
        const again = new DyingHost({ directory: directory.path, clock: clockAt(moment) });
        for (const [cursor, value] of host.cursors) again.cursors.set(cursor, value);
        again.committed.push(...host.committed);
        host = again;
      }
      const events: unknown[] = host.committed.map(({ values }) => values["event"]);
      expect([commits, ...events]).toEqual([commits, ...readings.map(({ values }) => values?.["event"])]);
    }
    directory.remove();
  },
);

// A scale broadcasts one weighing several times; the example of the S400 has one of them.
for (const { name, bytes, readings } of scaleBroadcastExamples.examples) {
  test.each(readings.map((_, at) => at))(
    `${name}: what the disk refuses once, reading %i, is taken from the next broadcast, and no other twice`,
    async (refused) => {
      const directory = temporaryDirectory();
      const { moment, feed } = scaleBroadcastExamples;
      const host = new DyingHost({ directory: directory.path, clock: clockAt(moment) });
      const accept = host.accept.bind(host);
      let asked = 0;
      host.accept = (...record) =>
        asked++ === refused ? Promise.reject(new Error("the disk is full")) : accept(...record);
      await feed(bytesOf(readings.length > 1 ? bytes + bytes : bytes), host);
      expect(host.committed.map(({ series }) => series)).toEqual(
        readings.flatMap(({ series }) => series ?? []),
      );
      directory.remove();
    },
  );
}
