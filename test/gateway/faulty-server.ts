/** A gateway with a driver whose fault nothing catches, as a process of its own: `bun faulty-server.ts DATA`. */
import { Type } from "@sinclair/typebox";
import type { DriverDefinition } from "../../drivers/driver.ts";
import { SystemClock } from "../../src/base/clock.ts";
import { serve, serverLog } from "../../src/cli/serving.ts";
import { processTerminal } from "../../src/cli/terminal.ts";
import { startGateway } from "../../src/gateway/gateway.ts";

const clock = new SystemClock();
const terminal = processTerminal();
const context = {
  clock,
  terminal,
  version: "0",
  exitWith: (code: number) => {
    process.exitCode = code;
  },
};
const log = serverLog(context, "info");

/** Breaks in a callback of its own, where no caller can catch it. */
const fragile: DriverDefinition = {
  name: "fragile",
  section: Type.Object({}),
  create: () => ({
    start: () => {
      clock.after(50, () => {
        throw new Error("a wire came loose");
      });
    },
    stop: async () => {},
    status: () => ({ state: "listening", since_ms: 0, detail: "" }),
  }),
};
/** Breaks where its caller can see it. */
const broken: DriverDefinition = {
  name: "broken",
  section: Type.Object({}),
  create: () => {
    throw new Error("made of glass");
  },
};

await serve({
  context,
  log,
  start: async (onFailure) => {
    const gateway = await startGateway({
      config: {
        file: "a test",
        data: process.argv[2] ?? "",
        home: { timezone: "UTC" },
        api: { hostname: "127.0.0.1", port: 0, realm: "lintel" },
        drivers: new Map([
          ["broken", {}],
          ["fragile", {}],
        ]),
        walking: [],
        warnings: [],
      },
      clock,
      log,
      drivers: [broken, fragile],
      onFailure,
    });
    const { drivers } = await gateway.status();
    terminal.printJson(drivers.map(({ name, state }) => [name, state]));
    return gateway;
  },
});
await terminal.flushed();
process.exit();
