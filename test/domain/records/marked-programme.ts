import { type Kind, kinds } from "../../../src/domain/kinds.ts";
import type { StoredRecord } from "../../../src/domain/records/record-table.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../../src/domain/series.ts";
import type { Binding } from "../../../src/domain/token.ts";
import type { BatchDevice } from "../../../src/store/batch.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import type { ImportedRecord } from "../../../src/store/inventory/record-store.ts";
import { SimulatedGateway, type SimulatedReading } from "../../../testbed/simulated-gateway.ts";
import { everything, itemOf, markOf, recordOf } from "./marked-home.ts";

/** Homes of a programme, in which every text, number and time of a record or reading tells whose it is. */
export const homes = { a: 70121, b: 70131, c: 70141, d: 70151, e: 70161 } as const;
/** A project of the subjects of homes c and e, and a study of the subject of home d. */
export const project = 80031;
export const study = 80041;
/** A sensor that has moved from home a to home b, and somebody who has moved from home b to home a. */
export const mover = 90201;
export const moved = 90301;

/** A sensor that home b hears and no inventory knows. */
const strangerAddress = addressOf(homes.b * 10 + 9);
const strangerName = `wirelesssensor-${strangerAddress.replaceAll(":", "")}`;

/** Records that are of several homes, or of none: no bound token sees them. */
export const nobodys = 90401;

/** All that is marked. */
export const marked: readonly number[] = [...Object.values(homes), project, study, mover, moved, nobodys];

/** Read tokens, and all that each may see: of everything else it may hear nothing. */
export const bound: readonly { name: string; binding?: Partial<Binding>; own: readonly number[] }[] = [
  { name: "everything", own: marked },
  { name: "home a", binding: { homes: [homes.a] }, own: [homes.a, mover, moved] },
  { name: "home b", binding: { homes: [homes.b] }, own: [homes.b, mover, moved] },
  { name: "a project", binding: { projects: [project] }, own: [project, homes.c, homes.e] },
  { name: "a study", binding: { studies: [study] }, own: [study, homes.d] },
  {
    name: "a home and a project",
    binding: { homes: [homes.a], projects: [project] },
    own: [project, homes.a, homes.c, homes.e, mover, moved],
  },
  { name: "a home that is not there", binding: { homes: [404] }, own: [] },
];

/** The texts by which something is known in an answer of any version: numbers, hardware addresses and times. */
export function marksOf(number: number): string[] {
  const digits = String(number);
  const colons = `${digits.slice(0, 2)}:${digits.slice(2, 4)}:${digits.slice(4)}`;
  return [digits, colons, isoOf(stamp_s(number)).slice(0, 10), isoOf(1_700_000_000 + number)];
}

/** `2023-11-30T02:06:40Z` of unix seconds. */
function isoOf(time_s: number): string {
  return new Date(time_s * 1000).toISOString().replace(".000Z", "Z");
}

/** When the readings of a home begin, unix seconds. */
export function stamp_s(home: number): number {
  return 1_000_000_000 + home * 10_000;
}

/** Numbers of the records that a path may name, and names of items by kind. */
export const named = {
  ids: [...marked, 404],
  items: Object.fromEntries(
    Object.keys(kinds).map((kind) => [
      kind,
      [
        ...Object.values(homes).flatMap((home) => {
          const { itemid, itemname } = itemIn(home, kind as Kind);
          return [itemname, String(itemid)];
        }),
        ...(kind === "wirelesssensors" ? [`sensor ${mover}`, strangerName] : []),
        "nothing",
      ],
    ]),
  ),
};

/** Fills a store of central with the programme and with what each home has sent. */
export async function fill(store: CentralStore): Promise<void> {
  const { clashes } = await store.importRecords([programme()]);
  if (clashes.length > 0) throw new Error(`the programme clashes: ${JSON.stringify(clashes)}`);
  for (const home of Object.values(homes)) {
    const gateway = gatewayOf(home);
    await store.receive(gateway.all(), gateway.sender);
    await store.noteReport(reportOf(gateway), gateway.sender);
    await store.replaceAlerts(home, [
      { subjectid: moved, alerttypeid: home, alerttypename: null, alertmessage: `battery ${markOf(home)}` },
    ]);
  }
}

/** The gateway of a home, with all that it has heard. */
export function gatewayOf(home: number): SimulatedGateway {
  return new SimulatedGateway(home, `of ${home}`).add(...readingsOf(home));
}

export function programme(): ImportedRecord[] {
  const { a, b, c, d, e } = homes;
  const enrolled = (subjectid: number, projectid: number, homeid: number) =>
    recordOf("project_enrollments", homeid, {
      ...{ subjectid, projectid, homeid },
      ...{ start: stamp_s(homeid), stop: stamp_s(homeid) + 1 },
    });
  const issue = (issueid: number, home: number, fixed: StoredRecord) =>
    recordOf("issues", home, { issueid, ...fixed });
  const stay = (homeid: number, start: number, stop: number | null) =>
    recordOf("home_inventory", homeid, { homeid, item: mover, start, stop });
  return [
    ...Object.values(homes).flatMap((home) => [
      ...everything(home).filter(({ type }) => type !== "items"),
      ...(Object.keys(kinds) as Kind[]).map((kind) =>
        itemOf(home, itemIn(home, kind).itemid, itemIn(home, kind)),
      ),
    ]),
    recordOf("projects", project, { projectid: project }),
    recordOf("studies", study, { studyid: study }),
    enrolled(c, project, c),
    enrolled(e, project, e),
    recordOf("study_enrollments", d, { subjectid: d, studyid: study }),
    itemOf(mover, mover, {
      itemname: `sensor ${mover}`,
      macaddress: addressOf(mover),
      currenthomeid: b,
      currenthomestart: stamp_s(b),
    }),
    stay(a, stamp_s(a), stamp_s(a) + 7_200),
    stay(b, stamp_s(b), null),
    recordOf("subjects", moved, { subjectid: moved }),
    recordOf("comments", moved, { subjectid: moved }),
    enrolled(moved, a, a),
    enrolled(moved, b, b),
    issue(a * 10, a, { homeid: a, itemid: mover }),
    issue(b * 10, b, { homeid: b, subjectid: moved }),
    issue(nobodys, nobodys, {}),
    issue(nobodys * 10, nobodys, { homeid: a, subjectid: b }),
    issue(nobodys * 10 + 1, nobodys, { itemid: mover }),
  ];
}

/** The identity of the item of a kind in a home. */
function itemIn(home: number, kind: Kind) {
  const { typeid, singular } = kinds[kind];
  // The sensor has the number of the home, as in `ofHome`.
  const itemid = kind === "wirelesssensors" ? home : home * 10 + typeid;
  return {
    itemid,
    itemname: `${singular} ${itemid}`,
    typename: kind,
    typeid,
    subtypename: kind === "pillboxes" ? "polled" : markOf(home),
    macaddress: addressOf(itemid),
    currenthomestart: stamp_s(home),
  };
}

/** A hardware address that has the digits of a number. */
function addressOf(number: number): string {
  const digits = String(number).padEnd(10, "0");
  return `00:0d:6f:${(digits.match(/../g) ?? []).join(":")}`;
}

/** Three readings of every series of the home; also of the sensor that moves, whether it is there or not, and of one that nobody knows. */
function readingsOf(home: number): SimulatedReading[] {
  const devices = (series: SeriesName): BatchDevice[] => {
    const { kind } = seriesOf(series);
    const own = { kind, address: addressOf(itemIn(home, kind).itemid) };
    if (series !== "wirelesssensor_events") return [own];
    const stranger = home === homes.b ? [{ kind, address: strangerAddress }] : [];
    return [own, { kind, address: addressOf(mover) }, ...stranger];
  };
  return seriesNames.flatMap((series) =>
    devices(series).flatMap((device) =>
      [0, 1, 2].map((place) => {
        const stamp_ms = (stamp_s(home) + place * 60) * 1000 + 7;
        const clock = seriesOf(series).deviceClock === true ? { device_ms: stamp_ms, offset_ms: 0 } : {};
        return { device, series, stamp_ms, fields: fieldsOf(series, home), ...clock };
      }),
    ),
  );
}

function fieldsOf(series: SeriesName, home: number): Value[] {
  return Object.entries(seriesOf(series).fields).map(([name, { sql, schema }]) => {
    if (name === "powersource") return "battery";
    if (sql === "TEXT") return markOf(home);
    return schema["maximum"] !== undefined && schema["maximum"] < home ? 1 : home;
  });
}

/** The gateway heard its sensor for an hour, with a gap, and says the same of the one that moves. */
function reportOf(gateway: SimulatedGateway) {
  const from_ms = stamp_s(gateway.home) * 1000;
  const to_ms = from_ms + 3_600_000;
  const devices = [itemIn(gateway.home, "wirelesssensors").itemid, mover].map((itemid) => ({
    kind: "wirelesssensors" as const,
    address: addressOf(itemid),
  }));
  return gateway.report({
    to_note: 3,
    devices,
    listeners: [{ name: "zigbee", first_ms: from_ms, last_ms: to_ms }],
    states: devices.map((_, device) => ({ device, first_ms: from_ms, heard_ms: to_ms, listener: "zigbee" })),
    gaps: devices.map((_, device) => ({
      device,
      from_ms: from_ms + 600_000,
      to_ms: from_ms + 900_000,
      reason: "missed_window" as const,
      lost: gateway.home,
    })),
  });
}
