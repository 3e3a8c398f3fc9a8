import { type TSchema, TypeGuard } from "@sinclair/typebox";
import type { Kind } from "../src/domain/kinds.ts";
import { isUnixTime } from "../src/domain/records/record-field.ts";
import { type RecordType, recordTable, type StoredRecord } from "../src/domain/records/record-table.ts";
import type { SeriesName, Value } from "../src/domain/series.ts";
import type { GatewayStore } from "../src/store/gateway/gateway-store.ts";
import type { ImportedRecord } from "../src/store/inventory/record-store.ts";
import { now_ms, reading, type Serving } from "./serving.ts";

/** Items of the sample programme; the first of a kind has readings. */
export const items = [
  { itemid: 1, itemname: "box-polled", typename: "pillboxes", subtypename: "polled", mac: "01" },
  { itemid: 2, itemname: "box-broadcasting", typename: "pillboxes", subtypename: "broadcasting", mac: "02" },
  { itemid: 3, itemname: "wall", typename: "wirelesssensors", subtypename: "wall", mac: "03" },
  { itemid: 4, itemname: "Tür/ü %?", typename: "wirelesssensors", subtypename: "door", mac: "04" },
  { itemid: 5, itemname: "scale", typename: "scales", subtypename: "null", mac: "05" },
  { itemid: 6, itemname: "watch", typename: "watches", subtypename: "null", mac: "06" },
  { itemid: 7, itemname: "gateway", typename: "gateways", subtypename: "null", mac: "07" },
] as const satisfies readonly {
  itemid: number;
  itemname: string;
  typename: Kind;
  subtypename: string;
  mac: string;
}[];

/**
 * A small programme: homes 12 and 13; subject 1 with two records of every kind, 2 with one, 3 with none. Of two
 * records one has a value in every field and one is null wherever that is allowed.
 */
export function programme(): ImportedRecord[] {
  const records: ImportedRecord[] = items.map(({ mac, ...item }, index) => ({
    type: "items",
    record: sample("items", index, {
      ...item,
      macaddress: `00:0d:6f:00:0a:${mac}`,
      currenthomeid: index < 4 ? 12 : null,
    }),
  }));
  const add = (type: RecordType, index: number, fixed: StoredRecord) =>
    void records.push({ type, record: sample(type, index, fixed) });
  for (const [index, homeid] of [12, 13].entries())
    add("homes", index, index === 0 ? { homeid, timezone: "UTC" } : { homeid });
  for (const [index, subjectid] of [1, 2, 3].entries()) add("subjects", index, { subjectid });
  for (const [index, number] of [1, 2].entries()) {
    add("projects", index, { projectid: number });
    add("studies", index, { studyid: number });
    add("issues", index, { issueid: number, homeid: 12, subjectid: 1, itemid: 3 });
    add("consents", index, { consentid: number, homeid: 12, subjectid: 1, answer: "allowed" });
  }
  for (const [subjectid, count] of [
    [1, 2],
    [2, 1],
  ] as const)
    for (let index = 0; index < count; index += 1) {
      const number = index + 1;
      add("project_enrollments", index, { subjectid, projectid: number, homeid: 12 });
      add("study_enrollments", index, { subjectid, studyid: number });
      add("scheduled_contacts", index, { subjectid, schedcontactid: number });
      add("phones", index, { subjectid, phoneid: number });
      add("subject_inventory", index, { subjectid, itemid: 5 + index });
      add("contacts", index, { subjectid, contactid: number });
      add("comments", index, { subjectid, commentid: number });
      add("alerts", index, { subjectid, alerttypeid: number });
    }
  add("home_inventory", 0, { homeid: 13, item: 3, start: at_s - 4000, stop: at_s - 2000 });
  add("home_inventory", 0, { homeid: 12, item: 3, start: at_s - 1000, stop: null });
  for (const index of [0, 1])
    add("notes", index, { homeid: 12, noteid: index, itemid: 3, subjectid: 1, start: at_s - 3000 + index });
  return records;
}

/** Imports the programme, and adds readings of every series: half a dozen a second, in bursts. */
export async function fill(store: GatewayStore): Promise<void> {
  async function* batches() {
    yield programme();
  }
  const { clashes } = await store.importRecords(batches(), { dryRun: () => false });
  if (clashes.length > 0) throw new Error(`the sample clashes: ${JSON.stringify(clashes)}`);
  for (const [index, { series, item, values }] of readings.entries()) {
    const { typename: kind, mac } = items[item] ?? items[0];
    const device = { kind, address: `00:0d:6f:00:0a:${mac}` };
    const of = (back: number) => reading(device, series, now_ms - 1 - back * 170 - index, values(back));
    await store.append(Array.from({ length: 60 }, (_, back) => of(back)));
  }
}

/** Values for requests: tokens, names of items by type, numbers of records by type, and the time. */
export interface Known {
  readonly tokens: Readonly<Record<"read" | "admin" | "sync" | "expired", string>>;
  readonly itemnames: Readonly<Record<string, readonly string[]>>;
  readonly ids: Readonly<Record<string, readonly number[]>>;
  readonly now_ms: number;
}

/** Names and numbers for generated requests to a server that has the programme. */
export function knownOf({ tokens }: Pick<Serving, "tokens">): Known {
  const byKind = Map.groupBy(items, ({ typename }) => typename);
  return {
    tokens,
    itemnames: Object.fromEntries(
      [...byKind].map(([kind, of]) => [
        kind,
        of.flatMap(({ itemname, itemid }) => [itemname, String(itemid)]),
      ]),
    ),
    ids: {
      subjects: [1, 2, 3],
      homes: [12, 13],
      projects: [1, 2],
      studies: [1, 2],
      issues: [1, 2],
      consents: [1, 2],
    },
    now_ms,
  };
}

const readings: readonly {
  series: SeriesName;
  item: number;
  values: (back: number) => Record<string, Value>;
}[] = [
  {
    series: "pillbox_status",
    item: 0,
    values: (back) => ({
      devicestamp: at_s - back,
      voltage: 5012,
      powersource: back % 2 === 0 ? "battery" : "external_power",
      eventcount: 77,
      batteryseconds: "3600",
      firmwarerevsion: "1.4",
      macaddress: "00:0d:6f:00:0a:01",
      nextpanicstart: at_s + 3600,
      nextpanicstop: at_s + 3900,
    }),
  },
  { series: "pillbox_events", item: 0, values: (back) => ({ event: back % 128 }) },
  { series: "pillbox_events", item: 1, values: (back) => ({ event: back % 128 }) },
  { series: "wirelesssensor_events", item: 2, values: (back) => ({ event: back % 4 }) },
  { series: "wirelesssensor_events", item: 3, values: (back) => ({ event: back % 4 }) },
  {
    series: "scale_weights",
    item: 4,
    values: (back) => {
      const mass = (grams: number) => (back % 2 === 0 ? grams : null);
      return {
        weight: 71_350 + back,
        fatMass: mass(14_000),
        waterMass: mass(40_100),
        boneMass: mass(3_000),
        muscleMass: mass(30_000),
        batteryLevel: mass(90),
      };
    },
  },
  { series: "scale_heart", item: 4, values: (back) => ({ heartRate: 60 + back }) },
  {
    series: "watch_epochs",
    item: 5,
    values: (back) => ({
      duration: 60,
      distance: 1.5 * back,
      steps: back,
      walkState: 2,
      runState: 1,
      sleepState: 4,
    }),
  },
];

const at_s = Math.floor(now_ms / 1000);

/** A record with a value in every field made from its schema, or with null where it may be, and `fixed` in it. */
function sample(type: RecordType, index: number, fixed: StoredRecord): StoredRecord {
  const fields = Object.entries<TSchema>(recordTable[type].schema.properties);
  return Object.fromEntries(
    fields.map(([name, schema], place) => [name, name in fixed ? fixed[name] : value(schema, index, place)]),
  );
}

function value(schema: TSchema, index: number, place: number): unknown {
  if (TypeGuard.IsUnion(schema)) {
    const nullable = schema.anyOf.some((member) => TypeGuard.IsNull(member));
    return nullable && index % 2 === 1 ? null : value(schema.anyOf[0] as TSchema, index, place);
  }
  if (TypeGuard.IsLiteral(schema)) return schema.const;
  if (isUnixTime(schema)) return 1_600_000_000 + place * 86_400;
  if (TypeGuard.IsInteger(schema)) return schema.maximum === 1 ? (place + index) % 2 : place + 1;
  if (TypeGuard.IsBoolean(schema)) return index % 2 === 0;
  return schema["pattern"] === undefined ? `text "é\u2028 ${place}` : "36000";
}
