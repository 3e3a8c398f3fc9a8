import type { TransportKind } from "../../drivers/wire/simulated-line.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";

/** A simulator on a pty as its device would be, or, where there is none to be had, on a TCP port of this machine. */
export async function plugIn<Simulator>(
  what: string,
  log: Log,
  listen: (transport: TransportKind) => Promise<Simulator>,
): Promise<Simulator> {
  try {
    return await listen("pty");
  } catch (error) {
    log.warn(`no pseudo-terminal to be had (${messageOf(error)}): ${what} is on TCP instead`);
    return await listen("tcp");
  }
}
