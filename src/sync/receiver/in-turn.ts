import type { Server } from "bun";
import type { Clock } from "../../clock.ts";
import { type BodyForm, readBody, requireForm, statedBytes } from "../../http/body.ts";
import type { AdmissionQueue } from "./admission-queue.ts";

/** A request of a home's gateway to central, in its turn. */
export interface HomeCall<Body = undefined, Query = unknown> {
  readonly request: Request;
  /** The home that the token is bound to: all that is answered or stored is of this one. */
  readonly home: number;
  /** When it came, unix milliseconds. */
  readonly now_ms: number;
  readonly query: Query;
  readonly body: Body;
  /** Bytes of the body, as it came over the wire. */
  readonly bytes: number;
}

/**
 * A handler of requests that wait in the queue of central: a request is let in before its body is read, and worked on in its turn.
 *
 * @param form of the body; null: a body that is sent is not read
 */
export function inTurn<Parts extends { queue: AdmissionQueue; clock: Clock }, Body, Query>(
  parts: Parts,
  form: BodyForm<Body> | null,
  work: (call: HomeCall<Body, Query>, parts: Parts) => Promise<object>,
) {
  const { queue, clock } = parts;
  return async ({
    request,
    server,
    home,
    now_ms,
    query,
  }: Pick<HomeCall<Body, Query>, "request" | "home" | "now_ms" | "query"> & {
    readonly server: Server<unknown> | null;
  }): Promise<object> => {
    if (form !== null) requireForm(request, form);
    const bytes_max = form?.bytes_max ?? 0;
    // A body that does not say how long it is may be as long as any.
    const ticket = queue.enter(home, statedBytes(request) || bytes_max);
    try {
      const bounds = { bytes_max, limit_ms: body_ms_max, clock };
      const bytes = form === null ? new Uint8Array() : await readBody(request, bounds);
      server?.timeout(request, turn_s_max);
      await ticket.turn();
      const body = form?.read(bytes, request) as Body;
      return await work({ request, home, now_ms, query, body, bytes: bytes.length }, parts);
    } finally {
      ticket.leave();
    }
  };
}

/** At this, the largest batch needs 3.5 KB/s. */
const body_ms_max = 300_000;
/** Nothing happens on the connection while a request waits for its turn and is worked on: Bun would close it before. */
const turn_s_max = 240;
