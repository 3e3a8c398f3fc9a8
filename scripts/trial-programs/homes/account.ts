import { fetchNew, followerOf } from "./arrivals.ts";
import type { Answer, Caller } from "./central.ts";
import { kinds, type Series, seriesOfKind } from "./marks.ts";
import { type Device, deviceName, type Reading } from "./model.ts";
import { inventoryPage, itemidIn, readFleet, readNightOf } from "./records.ts";
import type { Subject, Trial } from "./trial.ts";
import { historyFrom } from "./uploads.ts";
import { checkWhole } from "./walks.ts";

/**
 * The account at the end, when nobody uploads any more: every reading of every home is in its history, and on the page where the model
 * has it, by Link and in order of arrival, and on no other page.
 *
 * @returns how many readings the homes have sent, and how many of them are shown as an item's
 */
export async function account(trial: Trial): Promise<{ sent: number; shown: number }> {
  const [reader, ...bound] = trial.tokens.readers as [Caller, ...Caller[]];
  trial.provisional.clear();
  await countItems(trial, reader);
  const subjects: Subject[] = [
    ...[...trial.programme.newest.items.values()].map(({ kind, itemname, itemid }) => ({
      kind,
      itemname,
      itemid,
    })),
    ...[...trial.provisional].map(([itemname, provisional]) => ({
      kind: provisional.kind,
      itemname,
      provisional,
    })),
  ];
  const shown = new Set<Reading>();
  await atOnce(subjects, async (subject) => {
    for (const series of seriesOfKind[subject.kind]) {
      for (const reading of await walk(trial, reader, subject, series)) shown.add(reading);
      await fetchNew(trial, followerOf(trial, { caller: reader, subject, series }, 1000));
    }
  });
  for (const caller of bound.slice(0, bound_most))
    await atOnce(subjects, async (subject) => {
      for (const series of seriesOfKind[subject.kind]) {
        await walk(trial, caller, subject, series);
        await fetchNew(trial, followerOf(trial, { caller, subject, series }, 1000));
      }
    });
  await atOnce(trial.programme.homes, async (home) => {
    await historyFrom(
      trial,
      trial.gateways.get(home) as NonNullable<ReturnType<typeof trial.gateways.get>>,
      0,
    );
    for (const caller of [reader, ...bound]) await readNightOf(trial, caller, home, { limit: 1000 });
  });
  await accountForHidden(trial, shown);
  return {
    sent: trial.programme.homes.reduce((sum, home) => sum + trial.model.sentBy(home).length, 0),
    shown: shown.size,
  };
}

/** As many items of each type as the list of types says, and one for each device that is in no inventory in each home that has sent it. */
async function countItems(trial: Trial, caller: Caller): Promise<void> {
  const types = await trial.central.call("/v0.9/items", caller);
  const counts = new Map(
    types.json<{ typename: string; count: number }[]>().map((of) => [of.typename, of.count]),
  );
  for (const kind of kinds) {
    let found = 0;
    for (let last = page; last === page; found += last)
      last = await inventoryPage(trial, caller, kind, { skip: found, limit: page });
    if (found !== counts.get(kind))
      trial.fault("wrong", types, caller, `${counts.get(kind)} ${kind}, where ${found} are listed`);
  }
  const listed = new Map<string, number>();
  for (const { home, ...device } of trial.provisional.values()) {
    const name = `${deviceName(device)} of home ${home}`;
    listed.set(name, (listed.get(name) ?? 0) + 1);
  }
  const wanted = new Set(
    trial.programme.homes.flatMap((home) =>
      trial.model
        .sentBy(home)
        .filter((reading) => isUnlisted(trial, reading))
        .map((reading) => `${deviceName(reading)} of home ${home}`),
    ),
  );
  for (const name of wanted)
    if (listed.get(name) !== 1)
      trial.fault("lost", { path: "/inventory" }, caller, `${listed.get(name) ?? 0} items for ${name}`);
}

const isUnlisted = (trial: Trial, device: Device) =>
  device.address !== "" && !trial.programme.newest.devices.has(deviceName(device));

async function walk(trial: Trial, caller: Caller, subject: Subject, series: Series): Promise<Reading[]> {
  const opened = trial.open();
  const first = `/v0.9/items/${subject.kind}/${subject.itemname}/${series.path}`;
  const shown: (Reading | number)[] = [];
  let path: string | undefined = `${first}?limit=1000`;
  while (path !== undefined) {
    const answer: Answer = await trial.central.call(path, caller);
    if (answer.status === 404 && caller.homes !== undefined) break;
    if (!trial.expect(answer, caller, 200)) return [];
    shown.push(...trial.readingsIn(answer.json(), series));
    path = answer.next;
  }
  checkWhole(trial, { path: first }, { subject, series, caller, shown }, trial.close(opened));
  return shown.filter((reading) => typeof reading !== "number");
}

/** Every reading of a device in no inventory is shown; of each item what a home sent while it lived elsewhere is counted in the fleet, and no more. */
async function accountForHidden(trial: Trial, shown: ReadonlySet<Reading>): Promise<void> {
  const fleet = new Map((await readFleet(trial)).map(({ homeid, strays }) => [homeid, strays ?? []]));
  for (const home of trial.programme.homes) {
    const sent = trial.model.sentBy(home);
    const lost = sent.filter((reading) => isUnlisted(trial, reading) && !shown.has(reading));
    if (lost.length > 0)
      trial.fault(
        "lost",
        { path: "pages" },
        undefined,
        `${lost.length} of home ${home}, of devices in no inventory`,
      );
    const hidden = new Map<number, number>();
    for (const reading of sent) {
      const itemid = trial.programme.newest.devices.get(deviceName(reading))?.itemid ?? reading.guessed;
      if (!shown.has(reading) && !isUnlisted(trial, reading) && itemid !== undefined)
        hidden.set(itemid, (hidden.get(itemid) ?? 0) + 1);
    }
    for (const { itemname, readings } of fleet.get(home) ?? []) {
      const itemid = itemidIn(itemname);
      hidden.set(itemid, (hidden.get(itemid) ?? 0) - readings);
    }
    for (const [itemid, missing] of hidden)
      if (missing !== 0)
        trial.fault(
          "wrong",
          { path: "fleet" },
          undefined,
          `home ${home}, item ${itemid}: ${missing} more are hidden`,
        );
  }
}

/** Works on several at once. */
async function atOnce<One>(list: readonly One[], work: (one: One) => Promise<void>): Promise<void> {
  const rest = list.values();
  await Promise.all(
    Array.from({ length: at_once }, async () => {
      for (const one of rest) await work(one);
    }),
  );
}

/** Readers that are bound to homes, who ask for every item: most of what they ask for is not theirs. */
const bound_most = 3;
const page = 1000;
const at_once = 8;
