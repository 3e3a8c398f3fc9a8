import { batchType } from "../wire/frame.ts";
import { decoded, encoded } from "./batch.ts";
import type { Answer, Caller, CallOptions } from "./central.ts";
import { anchorOf, disguised, type Gateway } from "./gateway.ts";
import { deviceNumbered, homeMark, homeOfValue, numberOf, unlisted_first } from "./marks.ts";
import type { Device } from "./model.ts";
import type { Random } from "./random.ts";
import type { Trial } from "./trial.ts";

/** Calls of gateways, honest and lying: a home has taken from it what it sent, is given its own, and reaches nothing of another. */

export const batchHeaders = { "content-type": batchType };

/** New readings, now and then with earlier ones before them, with lost numbers, from a replaced box, or of guessed items. */
export async function upload(trial: Trial, gateway: Gateway, random: Random): Promise<void> {
  if (random.chance(0.01)) gateway.replace(random);
  const { epoch, home } = gateway;
  const last = epoch.last_seq;
  if (random.chance(0.05)) epoch.last_seq += 1 + random.below(3);
  gateway.uploads += 1;
  trial.begun[home] = gateway.uploads;
  const count = random.chance(0.05) ? 60 : 1 + random.below(8);
  // Now and then it gives each device the number of an item of a home far away.
  const guess = random.chance(0.1) ? anchorOf(strangerTo(trial, gateway, random)) : undefined;
  const of = () => (guess === undefined ? random.pick(gateway.heard) : lieOf(gateway, guess, random));
  const readings = gateway.make(random, count, of, guess?.itemid);
  const sent = trial.model
    .sentBy(home)
    .slice(-40)
    .filter((reading) => reading.epoch === epoch.name);
  const again = random.chance(0.2) && last >= epoch.first_seq ? sent.slice(-1 - random.below(20)) : [];
  const batch = gateway.batch([...again, ...readings], { from_seq: again[0]?.seq ?? last + 1 });
  trial.model.send(readings);
  const bytes = encoded(batch);
  const answer = await call(trial, gateway, "/batches", {
    method: "POST",
    body: bytes,
    headers: batchHeaders,
  });
  trial.answered[home] = gateway.uploads;
  if (!trial.expect(answer, undefined, 200)) return;
  gateway.remember(batch, bytes);
  const { held_seq, taken } = answer.json<{ held_seq: number; taken: number }>();
  if (held_seq !== epoch.last_seq || taken !== readings.length)
    trial.fault(
      "lost",
      answer,
      undefined,
      `home ${home}: ${taken} of ${readings.length} taken, held to ${held_seq}`,
    );
}

/** A device that is given the number of the first sensor of another home: that sensor without its address or as another kind, or one that it hears. */
function lieOf(gateway: Gateway, anchor: Device, random: Random): Device {
  const unnumbered = { kind: anchor.kind, address: "" };
  return random.pick([unnumbered, disguised(anchor, random), random.pick(listedOf(gateway))]);
}

/** Devices that a gateway hears and that always stood in the inventory: of any other a guessed number would be all that is known. */
function listedOf({ heard }: Gateway): Device[] {
  return heard.filter((device) => numberOf(device) < unlisted_first);
}

/** A home whose first sensor a gateway does not hear. */
function strangerTo(trial: Trial, gateway: Gateway, random: Random): number {
  let home: number;
  do home = random.pick(trial.programme.homes);
  while (gateway.hears(anchorOf(home)));
  return home;
}

export function otherHome(trial: Trial, home: number, random: Random): number {
  const other = random.pick(trial.programme.homes);
  return other === home ? (other % trial.programme.homes.length) + 1 : other;
}

/** An upload of before, again: nothing of it is taken twice. */
export async function replay(trial: Trial, gateway: Gateway, random: Random): Promise<void> {
  const { batch, bytes } = random.pick(gateway.sent) ?? {};
  if (batch === undefined || bytes === undefined) return;
  const named = { "lintel-batch": `${batch.epoch} ${batch.from_seq} ${batch.to_seq}` };
  const headers = { ...batchHeaders, ...(random.chance(0.5) ? named : {}) };
  const answer = await call(trial, gateway, "/batches", { method: "POST", body: bytes, headers });
  if (!trial.expect(answer, undefined, 200)) return;
  if (answer.json<{ taken: number }>().taken !== 0)
    trial.fault("wrong", answer, undefined, "it is taken again");
}

/** A report of the gateway: of its own devices, or of those of others, with guessed numbers too. */
export async function report(trial: Trial, gateway: Gateway, random: Random): Promise<void> {
  const lying = random.chance(0.4);
  const devices = Array.from({ length: 1 + random.below(3) }, () => {
    if (!lying) return random.pick(gateway.heard);
    const { kind, itemid } = anchorOf(strangerTo(trial, gateway, random));
    // Of an item either the number is guessed or the address: who knows both would be told both.
    const device = deviceNumbered(kind, itemid + 1);
    return random.pick<Device & { itemid?: number }>([
      device,
      { ...device, itemid },
      { kind, address: "", itemid },
      { ...random.pick(listedOf(gateway)), itemid },
    ]);
  });
  const body = gateway.report(random, devices);
  const answer = await call(trial, gateway, "/report", { method: "POST", body });
  if (!trial.expect(answer, undefined, 200)) return;
  const { home, epochs } = answer.json<{ home: number; epochs: { epoch: string; held_seq: number }[] }>();
  for (const [place, { name, first_seq, last_seq }] of gateway.epochs.entries()) {
    const held = epochs[place];
    const wanted = last_seq < first_seq ? 0 : last_seq;
    if (home !== gateway.home || held?.epoch !== name || held.held_seq !== wanted)
      trial.fault("lost", answer, undefined, `home ${gateway.home}: ${held?.held_seq} of ${wanted} held`);
  }
}

/** The digests that central has of an epoch, day by day: as many of each series of each device as the home has sent. */
export async function verify(trial: Trial, gateway: Gateway, random: Random): Promise<void> {
  const { name, last_seq } = random.pick(gateway.epochs);
  const sent = trial.model.sentBy(gateway.home).filter(({ epoch }) => epoch === name);
  if (sent.length === 0) return;
  const through_seq = random.chance(0.8) ? last_seq : (sent[random.below(sent.length)]?.seq ?? 0);
  const first = Math.floor((sent[0]?.stamp_ms ?? 0) / day_ms) - 2;
  const body = {
    epoch: name,
    through_seq,
    from_ms: first * day_ms,
    before_ms: (first + 31) * day_ms,
    digests: [],
  };
  const answer = await call(trial, gateway, "/verify", { method: "POST", body });
  if (!trial.expect(answer, undefined, 200)) return;
  const wanted = new Map<string, number>();
  for (const { series, address, stamp_ms, seq } of sent) {
    const day = Math.floor(stamp_ms / day_ms);
    if (seq > through_seq || day >= first + 31 || day < first) continue;
    const of = `${day} ${series} ${address}`;
    wanted.set(of, (wanted.get(of) ?? 0) + 1);
  }
  for (const { day, series, address, count } of answer.json<{ differing: Digest[] }>().differing) {
    const of = `${day} ${series} ${address}`;
    wanted.set(of, (wanted.get(of) ?? 0) - count);
  }
  for (const [of, difference] of wanted)
    if (difference !== 0)
      trial.fault(
        difference > 0 ? "lost" : "foreign",
        answer,
        undefined,
        `home ${gateway.home}, ${of}: ${difference} of what it sent`,
      );
}

interface Digest {
  readonly day: number;
  readonly series: string;
  readonly address: string;
  readonly count: number;
}

/** A day of a device, as the gateway has it: central has the same, and neither takes nor keeps anything. */
export async function sendDay(trial: Trial, gateway: Gateway, random: Random): Promise<void> {
  const sent = trial.model.sentBy(gateway.home);
  const some = sent[random.below(sent.length)];
  if (some === undefined || some.address === "") return;
  const day = Math.floor(some.stamp_ms / day_ms);
  const { series, kind, address, epoch } = some;
  const readings = sent.filter(
    (reading) =>
      reading.series === series &&
      reading.address === address &&
      reading.epoch === epoch &&
      Math.floor(reading.stamp_ms / day_ms) === day,
  );
  const { first_seq = 1, last_seq = 0 } = gateway.epochs.find(({ name }) => name === epoch) ?? {};
  const [from_seq = 1, to_seq = 0] = [readings[0]?.seq, readings.at(-1)?.seq];
  const body = encoded({ epoch, first_seq, from_seq, to_seq, missing: [], readings });
  const query = `epoch=${epoch}&through=${last_seq}&series=${series}&kind=${kind}&address=${address}&day=${day}&after=0`;
  const answer = await call(trial, gateway, `/days?${query}`, { method: "PUT", body, headers: batchHeaders });
  if (!trial.expect(answer, undefined, 200)) return;
  const { added, corrected, kept } = answer.json<{ added: number; corrected: number; kept: number }>();
  if (added + corrected > 0) trial.fault("lost", answer, undefined, `${added} added, ${corrected} corrected`);
  if (kept > 0) trial.fault("foreign", answer, undefined, `${kept} that home ${gateway.home} did not send`);
}

/** The history of a home from a time on: all that it has sent, old to new, and nothing else. */
export async function history(trial: Trial, gateway: Gateway, random: Random): Promise<void> {
  const sent = trial.model.sentBy(gateway.home);
  const from_ms = random.chance(0.2) ? 0 : (sent[random.below(sent.length)]?.stamp_ms ?? 0);
  await historyFrom(trial, gateway, from_ms);
}

export async function historyFrom(trial: Trial, gateway: Gateway, from_ms: number): Promise<void> {
  const wanted = new Map(
    trial.model
      .sentBy(gateway.home)
      .flatMap((reading) => (reading.stamp_ms < from_ms ? [] : [[reading.value, reading]])),
  );
  const of = { path: `/history?from=${from_ms} of home ${gateway.home}` };
  let [position, last_ms] = ["", 0];
  for (let pages = 0; pages < pages_max; pages += 1) {
    const answer = await call(trial, gateway, `/history?from=${from_ms}${position}`);
    if (answer.status === 204) break;
    if (!trial.expect(answer, undefined, 200)) return;
    const { readings, text } = decoded(answer.bytes);
    trial.expectOwn(of, undefined, text, new Set([gateway.home]));
    for (const { value, address, stamp_ms, series } of readings) {
      const reading = wanted.get(value);
      if (reading === undefined) {
        const kind = homeOfValue(value) === gateway.home ? "wrong" : "foreign";
        trial.fault(kind, of, undefined, `${value} of home ${homeOfValue(value)}, at ${stamp_ms}`);
        return;
      }
      wanted.delete(value);
      if (reading.series !== series || reading.stamp_ms !== stamp_ms || stamp_ms < last_ms)
        trial.fault("wrong", of, undefined, `${value} is another reading, or out of order`);
      if (reading.address !== address)
        trial.fault("foreign", of, undefined, `${value} of ${address}, which was sent of ${reading.address}`);
      last_ms = stamp_ms;
    }
    const [seq = "", ...at] = (answer.headers.get("lintel-position") ?? "").split(" ");
    position = `&seq=${seq}&at=${encodeURIComponent(at.join(" "))}`;
  }
  if (wanted.size > 0)
    trial.fault("lost", of, undefined, `${wanted.size}, such as ${wanted.keys().next().value}`);
}

/** The records that a home is given: those of its own people, and of items that were ever in it; and each that is in it now. */
export async function roster(trial: Trial, gateway: Gateway): Promise<void> {
  const { home } = gateway;
  const opened = trial.open();
  const answer = await call(trial, gateway, "/roster");
  const { inventories } = trial.close(opened);
  if (!trial.expect(answer, undefined, 200)) return;
  trial.expectOwn({ path: `/roster of home ${home}` }, undefined, answer.text, new Set([home]));
  const { items = [], subjects = [] } = answer.json<{ items?: { itemid: number }[]; subjects?: object[] }>();
  const given = new Set(items.map(({ itemid }) => itemid));
  const present = [...(inventories[0]?.items.values() ?? [])].filter((item) =>
    inventories.every(({ items }) => items.get(item.itemid)?.currenthomeid === home),
  );
  const missing = present.find(({ itemid }) => !given.has(itemid));
  if (missing !== undefined)
    trial.fault("lost", answer, undefined, `home ${home} is not given item ${missing.itemid}`);
  if (subjects.length !== 2)
    trial.fault("lost", answer, undefined, `home ${home} is given ${subjects.length} subjects`);
}

/** Files that a spare box would need: what the home itself sent last. */
export async function keepFiles(trial: Trial, gateway: Gateway): Promise<void> {
  const files = {
    "cursors.json": Buffer.from(`${homeMark(gateway.home)} ${gateway.order}`).toString("base64"),
  };
  const kept = await call(trial, gateway, "/backups", { method: "PUT", body: { files } });
  if (!trial.expect(kept, undefined, 200, 204)) return;
  const answer = await call(trial, gateway, "/backups");
  if (!trial.expect(answer, undefined, 200)) return;
  if (JSON.stringify(answer.json<{ files: object }>().files) !== JSON.stringify(files))
    trial.fault("foreign", answer, undefined, `home ${gateway.home} has other files than it sent`);
}

export function call(
  trial: Trial,
  { home }: Gateway,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  return trial.central.call(`/sync/v1${path}`, trial.tokens.sync.get(home) as Caller, options);
}

export const day_ms = 86_400_000;
const pages_max = 1_000;
