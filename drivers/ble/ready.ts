import { OperatorError } from "../../src/base/errors.ts";
import { type ControllerLine, silentFault } from "./line.ts";
import type { OpenNoble } from "./noble.ts";

/** Waits until noble has identified the controller and reported its state. */
export async function ready(
  open: OpenNoble,
  line: ControllerLine,
  port: string,
  signal: AbortSignal,
): Promise<string> {
  const { promise: usable, resolve, reject } = Promise.withResolvers<void>();
  let version = 0;
  open.hci.once("readLocalVersion", (hciVersion: number) => {
    version = hciVersion;
  });
  open.noble.on("stateChange", (state) => {
    if (state === "poweredOn") resolve();
    if (state === "unsupported") {
      reject(
        new OperatorError(
          `the controller on ${port} has no Bluetooth LE`,
          "use one of Bluetooth 4.0 or newer",
        ),
      );
    }
  });
  const stop = () => reject(silentFault(port, "the start was given up"));
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  void line.ended.then(reject);
  try {
    await usable;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  const name = versions[version] ?? `of version ${version}`;
  return `Bluetooth ${name} controller ${open.hci.address ?? ""} on ${port}`;
}

/** Assigned Numbers, 2.1. */
const versions: Readonly<Record<number, string>> = {
  6: "4.0",
  7: "4.1",
  8: "4.2",
  9: "5.0",
  10: "5.1",
  11: "5.2",
  12: "5.3",
  13: "5.4",
  14: "6.0",
};
