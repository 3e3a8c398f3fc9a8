import { encoded } from "./batch.ts";
import type { Caller, CallOptions } from "./central.ts";
import { anchorOf, type Gateway } from "./gateway.ts";
import type { Random } from "./random.ts";
import type { Trial } from "./trial.ts";
import { batchHeaders, call, day_ms, otherHome } from "./uploads.ts";

/** Calls of gateways that are refused: each is answered, takes nothing and tells nothing. */

/** An upload of another home, or something in its name: all of it is refused, and nothing of the other home is said. */
export async function intrude(trial: Trial, gateway: Gateway, random: Random): Promise<void> {
  const victim = trial.gateways.get(otherHome(trial, gateway.home, random)) as Gateway;
  const { batch, bytes } = random.pick(victim.sent) ?? {};
  if (batch === undefined || bytes === undefined) return;
  const epoch = batch.epoch;
  const report = gateway.report(random, []) as { epochs: object[] };
  const query = `epoch=${epoch}&through=${batch.to_seq}&series=wirelesssensor_events&kind=wirelesssensors&day=0&after=0`;
  const verify = { epoch, through_seq: batch.to_seq, from_ms: 0, before_ms: day_ms, digests: [] };
  const [path, options] = random.pick<[string, CallOptions]>([
    ["/batches", { method: "POST", body: bytes, headers: batchHeaders }],
    [
      "/batches",
      {
        ...{ method: "POST", body: bytes },
        headers: { ...batchHeaders, "lintel-batch": `${epoch} ${batch.from_seq} ${batch.to_seq}` },
      },
    ],
    ["/verify", { method: "POST", body: verify }],
    ["/report", { method: "POST", body: { ...report, epochs: [{ epoch, first_seq: 1, last_seq: 9 }] } }],
    [
      `/days?${query}&address=${anchorOf(victim.home).address}`,
      { method: "PUT", body: bytes, headers: batchHeaders },
    ],
    ["/roster", { headers: { "lintel-home": String(victim.home) } }],
    ["/history?from=0", { headers: { "lintel-home": String(victim.home) } }],
  ]);
  const answer = await call(trial, gateway, path, options);
  if (answer.status === 200)
    trial.fault("foreign", answer, undefined, `home ${gateway.home} as ${victim.home}: 200`);
  else trial.expect(answer, undefined, 409);
  trial.expectOwn(answer, undefined, answer.text, new Set([gateway.home]));
}

/** A batch that calls all numbers lost that there are: they stay free. */
export async function overreach(trial: Trial, gateway: Gateway): Promise<void> {
  const { name: epoch, first_seq, last_seq } = gateway.epoch;
  const [from_seq, to_seq] = [last_seq + 1, Number.MAX_SAFE_INTEGER];
  const body = encoded({ epoch, first_seq, from_seq, to_seq, missing: [[from_seq, to_seq]], readings: [] });
  const answer = await call(trial, gateway, "/batches", { method: "POST", body, headers: batchHeaders });
  trial.expect(answer, undefined, 422);
}

/** A sync token at the interface, a read token at sync. */
export async function trespass(trial: Trial, gateway: Gateway, random: Random): Promise<void> {
  const sync = trial.tokens.sync.get(gateway.home) as Caller;
  const [path, caller] = random.pick<[string, Caller]>([
    ["/v0.9/items", sync],
    [`/v0.9/homes/${gateway.home}`, sync],
    ["/sync/v1/history?from=0", random.pick(trial.tokens.readers)],
    ["/sync/v1/roster", random.pick(trial.tokens.readers)],
    ["/sync/v1/fleet", random.pick(trial.tokens.readers)],
    ["/sync/v1/fleet", sync],
  ]);
  trial.expect(await trial.central.call(path, caller), caller, 401);
}
