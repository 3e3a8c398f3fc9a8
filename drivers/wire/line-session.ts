import type { OperatorError } from "../../src/base/errors.ts";
import type { Session } from "./reconnect.ts";
import { openSerialLine, type SerialLine, type SerialLineOptions } from "./serial-line.ts";

/** A driver's work with a line while it is open. */
export interface LineWork {
  /** Takes each piece that arrives; must not keep it. */
  receive(chunk: Uint8Array): void;
  /** Resolves once the other end has identified itself; the line is closed where this rejects. Absent: it need not identify itself. */
  greet?(signal: AbortSignal): Promise<void>;
  /** One line that describes the device at the other end, asked once it has been greeted. */
  detail(): string;
  /** Works until `signal` is raised or it cannot go on: resolves with the reason, and never rejects. */
  run(signal: AbortSignal): Promise<OperatorError>;
}

/** Opens a line and works on it, as a session that `Reconnect` keeps: it ends when the line or the work does. */
export async function openLineSession(
  options: Omit<SerialLineOptions, "onData">,
  signal: AbortSignal,
  workOn: (line: SerialLine) => LineWork,
): Promise<Session> {
  let receive: (chunk: Uint8Array) => void = () => {};
  const line = await openSerialLine({ ...options, onData: (chunk) => receive(chunk) }, signal);
  const work = workOn(line);
  receive = (chunk) => work.receive(chunk);
  try {
    await Promise.race([work.greet?.(signal), line.ended.then((reason) => Promise.reject(reason))]);
  } catch (thrown) {
    await line.close();
    throw thrown;
  }
  const stop = new AbortController();
  const working = work.run(stop.signal);
  return {
    detail: work.detail(),
    ended: Promise.race([line.ended, working]),
    close: async () => {
      stop.abort(new Error("the driver stops"));
      await line.close();
      await working;
    },
  };
}
