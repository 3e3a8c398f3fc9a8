import { SystemClock } from "../../src/base/clock.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { keptLog } from "../../testbed/sample.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

/** The store of a gateway without drivers, for a process that takes readings in; `stay` says that they are there, and stays until it is killed. */
export async function openBox(of: {
  directory: string;
  home: string | undefined;
}): Promise<{ store: GatewayStore; stay: () => void }> {
  const { directory, home } = of;
  const clock = new SystemClock();
  const store = await openGatewayStore({
    directory,
    clock,
    log: keptLog().log,
    home: Number(home),
    ...writerOfTests(),
  });
  const stay = () => {
    process.stdout.write("done\n");
    clock.after(600_000, () => {});
  };
  return { store, stay };
}
