import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BufferCursor } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";

/** The gateway as one product sees it: a directory, cursors and log lines of its own, by its name. */
export function productHost(host: Host, name: string): Host {
  const directory = join(host.directory, name);
  mkdirSync(directory, { recursive: true });
  const own = (cursor: BufferCursor | undefined): BufferCursor | undefined =>
    cursor === undefined ? undefined : { ...cursor, name: `${name}/${cursor.name}` };
  return {
    clock: host.clock,
    log: host.log.named(name),
    directory,
    accept: (reading, cursor) => host.accept(reading, own(cursor)),
    admits: (sighting) => host.admits(sighting),
    identify: (claim, options) => host.identify(claim, options),
    localAddress: host.localAddress,
    cursor: (of) => host.cursor(`${name}/${of}`),
    gap: (gap, cursor) => host.gap(gap, own(cursor)),
    heard: (state) => host.heard(state),
    describe: (device, facts) => host.describe(device, facts),
    dropped: (what, count) => host.dropped(what, count),
    joining: (event) => host.joining(event),
    requestJoining: () => host.requestJoining(),
    requestPause: () => host.requestPause(),
  };
}
