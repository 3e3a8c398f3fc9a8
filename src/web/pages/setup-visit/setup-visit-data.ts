import { faultOfLine } from "../../../config/walking-line.ts";
import type { SetupVisitState } from "../../../domain/joining-state.ts";
import type { Kind } from "../../../domain/kinds.ts";
import { type GivenName, isDevice } from "../../../store/inventory/given-names.ts";
import { measuredLines } from "../../../store/inventory/walking-lines.ts";
import type { ItemOverview } from "../../../store/store.ts";
import { HttpError } from "../../server/http-errors.ts";
import { isInUse, type ShownConflict, shownConflicts, titleOf } from "../shown-devices.ts";
import { type Asked, type SetupVisit, type Show, trailTo } from "../site.ts";
import { type ShownTrial, shownTrial } from "./trial-data.ts";

/** One step of the set-up visit. Times are unix milliseconds. */
export interface SetupVisitData {
  readonly step: SetupVisitStep;
  readonly zone: string;
  readonly state: SetupVisitState;
  readonly conflicts: readonly ShownConflict[];
  readonly timeKnown: boolean;
  readonly devices: readonly SetupVisitDevice[];
  /** Address of the device that is being named. */
  readonly naming: string | null;
  /** Lines of curtain sensors, by the room that they are in, as far as they were measured. */
  readonly lines: readonly MeasuredLine[];
  /** Trials of the devices, and the record of them; null where the step needs none. */
  readonly trial: ShownTrial | null;
  /** For each room whose line was walked along: addresses of its curtain sensors as they saw the technician. */
  readonly orders: Readonly<Record<string, readonly string[]>>;
}

export interface MeasuredLine {
  readonly room: string;
  /** From the first to the last sensor that was measured, metres. */
  readonly metres: number;
  readonly sensors: number;
  /** Why it measures no walking speed yet, with the remedy. */
  readonly fault: string | null;
}

export interface SetupVisitDevice {
  readonly kind: Kind;
  readonly subtype: string;
  readonly address: string;
  readonly name: string;
  /** The name was given by somebody, here or in the inventory. */
  readonly named: boolean;
  readonly room: string | null;
  /** Of a curtain sensor: how far it is from the end of the line of its room. */
  readonly metres: number | null;
  /** The line of the configuration that it is one of. */
  readonly line: string | null;
  /** Name of the broken device whose place it took, or its address where nothing is shown of that any more. */
  readonly replaces: string | null;
  /** It was not heard within its time. */
  readonly overdue: boolean;
  readonly model: string | null;
  readonly linkquality: number | null;
  readonly heard_ms: number | null;
  /** When it last told of something that happened. */
  readonly spoke_ms: number | null;
}

export const steps = ["find", "name", "line", "test", "finish"] as const;
export type SetupVisitStep = (typeof steps)[number];

export const showSetupVisit: Show<SetupVisitData> = async (asked) => {
  const { site, store, query, now_ms, locale } = asked;
  const walk = walkOf(asked);
  const names = await store.givenNames();
  const overviews = await store.itemOverviews();
  const shown = overviews.filter((one) => one.record.typename !== "gateways" && isInUse(one));
  const lines = (await site.walkingOf?.(site.home)) ?? [];
  const devices = shown.map((overview) => {
    const { itemname } = overview.record;
    const line = lines.find(({ sensors }) => sensors.some(({ item }) => item === itemname));
    return deviceOf(overview, { names, line: line?.name ?? null, overviews });
  });
  const step = steps.find((one) => one === query.get("step")) ?? "find";
  const addresses = new Map(shown.map(({ record }) => [record.itemname, record.macaddress ?? ""]));
  const found = ["line", "test", "finish"].includes(step) ? await site.acceptance?.found() : undefined;
  const asking = query.get("device");
  const unnamed = devices.find(({ named }) => !named);
  const naming = devices.find(({ address }) => address === asking) ?? unnamed;
  const title = "Set up this home";
  return {
    title,
    data: {
      step,
      zone: await site.zoneOf(site.home),
      // A form that failed leads here with that word. Without it, its error would greet whoever comes next.
      state: query.has(failed) ? walk.state : { ...walk.state, unnamed: null },
      conflicts: shownConflicts(walk.conflicts, { overviews: shown, names, isWhole: true }),
      timeKnown: walk.isTimeKnown,
      devices,
      naming: naming?.address ?? null,
      lines: measuredLines(
        lines,
        names,
        shown.map(({ record }) => record),
      ).map((line) => {
        const fault = faultOfLine(line);
        const metres = (line.sensors.at(-1)?.metres ?? 0) - (line.sensors[0]?.metres ?? 0);
        const words = fault === undefined ? null : `${fault.what}: ${fault.remedy}`;
        return { room: line.name, metres, sensors: line.sensors.length, fault: words };
      }),
      trial: found === undefined ? null : shownTrial(found, { asked, devices }),
      orders: Object.fromEntries(
        Object.entries(found?.orders ?? {}).map(([room, names]) => [
          room,
          names.map((name) => addresses.get(name) ?? name),
        ]),
      ),
      now_ms,
      locale,
      trail: trailTo(site.role, site.home),
    },
  };
};

function deviceOf(
  overview: ItemOverview,
  of: {
    readonly names: readonly GivenName[];
    readonly line: string | null;
    readonly overviews: readonly ItemOverview[];
  },
): SetupVisitDevice {
  const { record, provisional, linkquality, heard_ms, overdue, series } = overview;
  const { names, line, overviews } = of;
  const given = names.find((one) => isDevice(one, record));
  const title = titleOf(overview, names);
  const replaces = given?.replaces;
  const old =
    replaces &&
    overviews.find((one) => isDevice({ ...given, address: replaces }, one.record))?.record.itemname;
  return {
    kind: record.typename as Kind,
    subtype: record.subtypename,
    address: record.macaddress ?? "",
    name: title,
    named: given !== undefined || !provisional,
    room: given?.room ?? null,
    metres: given?.metres ?? null,
    line,
    // The broken one may have the same name in the inventory.
    replaces: (old === title ? replaces : old) ?? replaces ?? null,
    overdue,
    model: [record.vendorname, record.modelname].filter((word) => word !== null).join(" ") || null,
    linkquality: linkquality ?? null,
    heard_ms: heard_ms ?? null,
    spoke_ms: series.length === 0 ? null : Math.max(...series.map(({ newest_ms }) => newest_ms)),
  };
}

/** @throws HttpError 404 where no home can be set up, 403 if the token may not set it up */
export function walkOf({ site, token }: Pick<Asked, "site" | "token">): SetupVisit {
  if (site.walk === undefined) throw new HttpError("path_unknown", {});
  if (token.scope !== "admin") throw new HttpError("setup_scope", {});
  return site.walk;
}

/** Names in an address that a form has failed: its error is shown there, and nowhere else. */
export const failed = "failed";
