import type { Log } from "../log.ts";
import type { Authorization } from "./authorization.ts";
import type { Exchange } from "./exchange.ts";

/** Something that is served on the one port of this program, beside others: the interface, sync, metrics. */
export interface App {
  /** Goes before its lines in the log. */
  readonly name: string;
  build(house: House): BuiltApp;
}

export interface BuiltApp {
  /** Whether requests for this path (percent-encoded, as sent) are its own; the first app that says so has it. */
  takes(path: string): boolean;
  /** Answers a request. What it throws becomes a refusal. */
  respond(exchange: Exchange): Promise<Response>;
  /** Bytes of the largest body that any of its routes takes, as it comes over the wire; absent: it reads none. */
  readonly body_bytes_max?: number;
}

/** The parts that every app in the server shares. */
export interface House {
  readonly authorization: Authorization;
  /** Under the name of the app. */
  readonly log: Log;
  /** Answers an error thrown on the way, and logs it; an error thrown by `respond` gets the same. */
  refuse(thrown: unknown, exchange: Exchange): Response;
}
