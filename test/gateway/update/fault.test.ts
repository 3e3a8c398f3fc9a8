import { expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { controlPath } from "../../../src/gateway/control-server.ts";
import { Judge } from "../../../src/gateway/update/trial-judge.ts";
import { temporaryDirectory } from "../../../testbed/recording-host.ts";

test("a release that had to be started again once has failed, and a device that it never heard is missing", async () => {
  const directory = temporaryDirectory();
  const record = { typename: "wirelesssensors", itemname: "ws-1" };
  const items = [{ record, series: [] }];
  const status = { joining: false, started_ms: 0, busy: [], drivers: [], store: { items } };
  using _control = Bun.serve({
    unix: controlPath(directory.path),
    fetch: () => Response.json({ ...status, url: "http://127.0.0.1:1/v0.9" }),
  });
  const look = (restarts: number) =>
    new Judge({
      service: {
        state: async () => ({ serving: true, failed: false, restarts }),
        start: async () => {},
        stop: async () => {},
      },
      data: directory.path,
      clock: new SystemClock(),
      api: { hostname: "127.0.0.1", port: 0 },
    }).look(
      {
        heard: [{ name: "a sensor", items: ["wirelesssensors ws-1"], silence_ms: 1 }],
        restarts_a_day: 0,
        drivers: [],
        pages: [],
        uploads: false,
      },
      { switched_ms: 1, listened_ms: 0, trial_ms: 1, token: "", thoroughly: false },
    );
  expect(await look(0)).toEqual({ missing: ["nothing was heard of a sensor"] });
  expect(await look(1)).toMatchObject({ fault: expect.stringContaining("had to be started again") });
  directory.remove();
});
