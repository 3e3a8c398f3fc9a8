import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import type { Conflict } from "../domain/identity.ts";
import type { ChannelNoise, MeshScan } from "../domain/mesh.ts";
import type { GatewayStatus } from "./gateway-status.ts";
import {
  type Joining,
  type JoiningStep,
  joining_seconds_max,
  type PairingAbility,
} from "./joining/joining.ts";

/**
 * The control socket of a running gateway, used by `lintel pair`, `items` and `status`: HTTP on a unix socket in the data
 * directory that only the gateway's user may open.
 *
 *   GET    /status   GatewayStatus
 *   POST   /joining?seconds=120   a line of JSON per JoiningStep, until it closes; closes when the client goes.
 *                                 With &new-network an adapter that holds another network gives it up first; with
 *                                 &person=reads or =types somebody reads the steps, and also answers them
 *   POST   /joining/answer   the answer to the question that was asked last, as its body
 *   DELETE /joining  closes it
 *   POST   /flush    brings everything to disk that was heard, states of devices too
 *   POST   /mesh     scans the mesh, and answers the MeshScan after some minutes at most
 *   POST   /noise    measures the noise on the channels of Zigbee, and answers the ChannelNoise after some seconds
 *   POST   /admissions  reads the admitted devices again, because a command has changed them; with ?forgotten=ADDRESS a device
 *                       that it has removed from the store is forgotten here too
 *   POST   /conflicts?address=…&answer=accepted&by=…   settles a conflict about an address; or with answer=refused. A Conflict
 *
 * A fault is `{"what","remedy"}` with status 409, or a line of its own where there has been one: `{"state":"refused",…}`.
 */
export function startControl(options: {
  directory: string;
  joining: Joining;
  ingest: { flush(): Promise<void> };
  admission: { load(): Promise<void> };
  identities: ControlledIdentities;
  mesh: { scan(): Promise<MeshScan>; noise(): Promise<ChannelNoise> };
  status: () => Promise<GatewayStatus>;
  clock: Clock;
}): { stop(): Promise<void> } {
  const path = controlPath(options.directory);
  // The process with the store's lock owns the socket: a file that exists was left by a gateway that was killed.
  rmSync(path, { force: true });
  const server = listening(path, {
    "/status": { GET: answered(async () => Response.json(await options.status())) },
    "/joining": {
      POST: answered((request) => openJoining(options.joining, request)),
      DELETE: answered(() => options.joining.close()),
    },
    "/joining/answer": {
      POST: answered(async (request) => options.joining.answer(await request.text())),
    },
    "/flush": { POST: answered(() => options.ingest.flush()) },
    "/mesh": { POST: answered(async () => Response.json(await options.mesh.scan())) },
    "/noise": { POST: answered(async () => Response.json(await options.mesh.noise())) },
    "/conflicts": { POST: answered((request) => settleConflict(options.identities, request)) },
    "/admissions": {
      POST: answered(async (request) => {
        // First of all, so that a late message of the device does not make it known again.
        await options.admission.load();
        const forgotten = new URL(request.url).searchParams.get("forgotten");
        if (forgotten !== null) await options.identities.forget(forgotten);
      }),
    },
  });
  return {
    async stop() {
      // A client that is waiting for the last step gets it.
      const cancel = options.clock.after(stop_max_ms, () => void server.stop(true));
      await server.stop();
      cancel();
      rmSync(path, { force: true });
    },
  };
}

/** A handler of requests that answers what `action` does: a response, `{}` for anything else, or a fault with status 409. */
function answered(action: (request: Request) => Promise<unknown>) {
  return async (request: Request): Promise<Response> => {
    try {
      const answer = await action(request);
      return answer instanceof Response ? answer : Response.json({});
    } catch (error) {
      return Response.json(faultOf(error), { status: 409 });
    }
  };
}

/** Serves routes on a socket that only this user may open. @throws OperatorError where it cannot be made */
function listening(
  path: string,
  routes: Record<string, Record<string, (request: Request) => Promise<Response>>>,
): Bun.Server<undefined> {
  const umask = process.umask(0o177);
  try {
    const server = Bun.serve({
      unix: path,
      maxRequestBodySize: 1024,
      // A pairing is silent for minutes, and server.timeout() ends with the first chunk. On a unix socket Bun heeds
      // this option, but its types do not have it.
      idleTimeout: 0 as never,
      routes,
      fetch: () => new Response("not found\n", { status: 404 }),
    });
    chmodSync(path, 0o600);
    return server;
  } catch (error) {
    throw new OperatorError(
      `cannot make the control socket ${path} (${messageOf(error)})`,
      "use a data directory on a local file system",
      { cause: error },
    );
  } finally {
    process.umask(umask);
  }
}

export function controlPath(directory: string): string {
  return join(directory, "control.sock");
}

function faultOf(error: unknown): { what: string; remedy: string } {
  const known = error instanceof OperatorError;
  return {
    what: known ? error.what : `the gateway could not do that (${messageOf(error)})`,
    remedy: known ? error.remedy : "see its log",
  };
}

interface ControlledIdentities {
  settle(address: string, answer: "accepted" | "refused", by: string): Promise<Conflict>;
  forget(address: string): Promise<void>;
}

/** The last line of an answer, where joining could not be opened. */
export interface JoiningRefusal {
  readonly state: "refused";
  readonly what: string;
  readonly remedy: string;
}

async function settleConflict(identities: ControlledIdentities, request: Request): Promise<Response> {
  const asked = new URL(request.url).searchParams;
  const answer = asked.get("answer");
  if (answer !== "accepted" && answer !== "refused")
    throw new OperatorError(
      `${JSON.stringify(answer)} settles no conflict`,
      "run the same version of Lintel as the gateway",
    );
  const settled = await identities.settle(asked.get("address") ?? "", answer, asked.get("by") ?? "somebody");
  return Response.json(settled);
}

async function openJoining(joining: Joining, request: Request): Promise<Response> {
  const asked = new URL(request.url).searchParams;
  const seconds = Number(asked.get("seconds"));
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > joining_seconds_max) {
    throw new OperatorError(
      `joining cannot be open for ${seconds} s`,
      `give a whole number from 1 to ${joining_seconds_max}`,
    );
  }
  const lines = new TransformStream<string, string>(undefined, undefined, { highWaterMark: steps_max });
  const writer = lines.writable.getWriter();
  // A client that has gone gets no more steps; joining closes.
  const gone = () => void joining.close();
  const begun = Promise.withResolvers<void>();
  let ended = false;
  const report = (step: JoiningStep | JoiningRefusal) => {
    if (ended) return;
    ended = step.state === "closed" || step.state === "refused";
    begun.resolve();
    writer.write(`${JSON.stringify(step)}\n`).catch(gone);
    if (ended) writer.close().catch(gone);
  };
  const opening = joining.open(seconds, report, {
    newNetwork: asked.has("new-network"),
    person: abilityOf(asked.get("person")),
  });
  await Promise.race([opening, begun.promise]);
  opening.catch((error) => report({ state: "refused", ...faultOf(error) }));
  request.signal.addEventListener("abort", gone);
  if (request.signal.aborted) gone();
  return new Response(lines.readable.pipeThrough(new TextEncoderStream()), {
    headers: { "content-type": "application/x-ndjson" },
  });
}

function abilityOf(text: string | null): PairingAbility | undefined {
  return text === "reads" || text === "types" ? text : undefined;
}

const stop_max_ms = 1_000;

/** Steps that wait for a slow client; a write beyond them waits in turn, and an opening has few. */
const steps_max = 1_000;
