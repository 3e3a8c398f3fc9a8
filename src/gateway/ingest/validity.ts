import { type TObject, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type Clock, clockQuality, stamp_end_ms } from "../../base/clock.ts";
import { OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { isKind } from "../../domain/kinds.ts";
import {
  type BufferCursor,
  cursor_length_max,
  type Device,
  type Gap,
  gapReasons,
  type Reading,
} from "../../domain/reading.ts";
import { type SeriesName, seriesNames, seriesOf, text_length_max, type Value } from "../../domain/series.ts";
import { mayWait } from "./stamper.ts";

/** Why a reading can't be kept, under a stable name for counting and with the details; undefined when it can. */
export function faultOfReading(reading: Reading): IntakeFault | undefined {
  const { device, series, stamp_ms, clock, values, deviceClock } = reading;
  const fault = faultOfDevice(device);
  if (fault !== undefined) return fault;
  const check = checks.get(series);
  if (check === undefined) return { name: "readings of an unknown series", detail: `series ${series}` };
  const { kind, subtypes } = seriesOf(series);
  if (
    kind !== device.kind ||
    (device.subtype !== undefined && subtypes?.includes(device.subtype) === false)
  ) {
    return {
      name: "readings that do not belong to the device",
      detail: `${series} of ${kindAndAddress(device)}`,
    };
  }
  // A wrong system clock is no fault of the reading: its stamp is made anew from monotonic time.
  const outside = !mayWait(reading) && (stamp_ms < 0 || stamp_ms >= stamp_end_ms);
  const told = [stamp_ms, deviceClock?.stamp_ms ?? 0, deviceClock?.offset_ms ?? 0];
  if (!told.every(isDate) || !Number.isFinite(reading.monotonic_ms ?? 0) || outside) {
    return {
      name: "readings with an impossible stamp",
      detail: `stamp ${stamp_ms} of ${kindAndAddress(device)}`,
    };
  }
  if (!qualities.has(clock)) {
    return {
      name: "readings of an unknown clock quality",
      detail: `clock ${clock} of ${kindAndAddress(device)}`,
    };
  }
  const unsafe = Object.values(values).some(isUnsafe);
  if (unsafe || !check.Check(values)) {
    const error = check.Errors(values).First();
    const where = error === undefined ? "" : ` (${error.path.slice(1)}: ${error.message})`;
    return {
      name: "readings with impossible values",
      detail: `${series} of ${kindAndAddress(device)}${where}`,
    };
  }
  return undefined;
}

/** The same for what any sign of life says of its device. */
export function faultOfDevice(device: Device): IntakeFault | undefined {
  if (!isKind(device.kind)) return { name: "devices of an unknown kind", detail: `kind ${device.kind}` };
  if (!addressForm.test(device.address)) {
    return { name: "devices with an impossible address", detail: `address ${device.address.slice(0, 40)}` };
  }
  const texts = [device.subtype, device.model, device.vendor];
  if (texts.some((text) => (text?.length ?? 0) > text_max)) {
    return { name: "devices with overlong names", detail: kindAndAddress(device) };
  }
  return undefined;
}

/** The same for a gap. */
export function faultOfGap({ device, from_ms, to_ms, reason, lost = 0 }: Gap): IntakeFault | undefined {
  const times = isDate(from_ms) && isDate(to_ms) && from_ms <= to_ms;
  if (!times || !Object.hasOwn(gapReasons, reason) || !Number.isSafeInteger(lost) || lost < 0) {
    return {
      name: "impossible gaps",
      detail: `${reason} from ${from_ms} to ${to_ms} of ${kindAndAddress(device)}`,
    };
  }
  return faultOfDevice(device);
}

/** The same for a cursor. */
export function faultOfCursor(cursor: BufferCursor | undefined): IntakeFault | undefined {
  if (cursor === undefined || cursor.value.length <= cursor_length_max) return undefined;
  return {
    name: "cursors that are too long",
    detail: `${cursor.name} has ${cursor.value.length} characters`,
  };
}

export interface IntakeFault {
  readonly name: string;
  readonly detail: string;
}

export function kindAndAddress(device: Device): string {
  return `${device.kind} ${device.address}`;
}

const checks = new Map<SeriesName, TypeCheck<TObject>>(
  seriesNames.map((series) => {
    const fields = Object.entries(seriesOf(series).fields).map(([name, { schema }]) => [name, schema]);
    return [
      series,
      TypeCompiler.Compile(Type.Object(Object.fromEntries(fields), { additionalProperties: false })),
    ];
  }),
);

/** Whether a clock may have shown this, however wrong it is: from then on what is added to it stays exact. */
function isDate(unix_ms: number): boolean {
  return Number.isSafeInteger(unix_ms) && Math.abs(unix_ms) <= date_most_ms;
}

/** The end of the year 9999. */
const date_most_ms = Date.UTC(10_000, 0, 1);
const qualities: ReadonlySet<number> = new Set(Object.values(clockQuality));
/** Two to eight bytes in printed order. */
const addressForm = /^[0-9a-f]{2}(:[0-9a-f]{2}){1,7}$/;
const text_max = text_length_max;
/** Beyond it numbers lose their last digits. */
const safe_most = Number.MAX_SAFE_INTEGER;

/** Numbers that JSON or SQLite would not give back as they are, and texts longer than any field's. */
function isUnsafe(value: Value): boolean {
  return typeof value === "number" ? Math.abs(value) > safe_most : (value?.length ?? 0) > text_max;
}

/**
 * Logs refused readings, and answers each fault as an error: a line at once the first time, then at most one a minute for
 * each name. Names are of a fixed few.
 */
export function refusalLog({ clock, log }: { clock: Clock; log: Log }) {
  const said = new Map<string, { at_ms: number; since: number }>();
  return ({ name, detail }: IntakeFault, remedy: string): OperatorError => {
    const error = new OperatorError(`${name}: ${detail}`, remedy);
    const { monotonic_ms: at_ms } = clock.now();
    const last = said.get(name);
    if (last !== undefined && at_ms - last.at_ms < line_interval_ms) {
      last.since += 1;
      return error;
    }
    const more =
      last === undefined || last.since === 0 ? "" : ` (and ${last.since} more since the last line)`;
    said.set(name, { at_ms, since: 0 });
    log.warn(`${error.message}${more}`);
    return error;
  };
}

const line_interval_ms = 60_000;
