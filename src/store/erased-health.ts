import type { DatedFacts } from "../domain/device-facts.ts";
import { isOfDevice, type SpanOfDevice } from "./erasure.ts";
import type { DeviceHealth } from "./exchange.ts";
import { isUnderWay } from "./pause.ts";
import { type Between, without } from "./series/time-spans.ts";

export type Silence = Pick<DeviceHealth["silences"][number], "start_ms" | "stop_ms">;
export type Gap = Omit<DeviceHealth["gaps"][number], "device">;

/** A silence without a span: the part before it, and the part after it. */
export function silenceOutside<Of extends Silence>(silence: Of, span: Between): Of[] {
  const { start_ms, stop_ms } = silence;
  return left([start_ms, stop_ms], span).map((part) => ({ ...silence, start_ms: part[0], stop_ms: part[1] }));
}

/** A gap without a span, as silences. Nobody knows how much of what was lost was lost in a part. */
export function gapOutside<Of extends Gap>(gap: Of, span: Between): Of[] {
  return left([gap.from_ms, gap.to_ms], span).map(([from_ms, to_ms]) => {
    const { lost, ...part } = gap;
    const isWhole = from_ms === gap.from_ms && to_ms === gap.to_ms;
    return isWhole ? gap : ({ ...part, from_ms, to_ms } as Of);
  });
}

function left([from_ms, before_ms]: Stretch, span: Between): Stretch[] {
  const isApart = from_ms >= span.before_ms || (from_ms < span.from_ms && before_ms <= span.from_ms);
  if (isApart) return [[from_ms, before_ms]];
  return without([{ from_ms, before_ms }], [span]).map((part) => [part.from_ms, part.before_ms]);
}

type Stretch = readonly [from_ms: number, before_ms: number];

/**
 * The history of a device without what was learned in a span. The last of that holds from the end of the span on, where the
 * device was heard after it.
 */
export function historyOutside(
  history: readonly DatedFacts[],
  span: Between,
  heard_ms: number,
): DatedFacts[] {
  const last = history.find((one) => isUnderWay(span, one.from_ms));
  return history.flatMap((one) => {
    if (!isUnderWay(span, one.from_ms)) return [one];
    return one === last && heard_ms >= span.before_ms ? [{ ...one, from_ms: span.before_ms }] : [];
  });
}

/** The health of devices, as a gateway tells it, without what lies in erased spans. */
export function healthWithoutErased(health: DeviceHealth, spans: readonly SpanOfDevice[]): DeviceHealth {
  return spans.reduce(withoutSpan, health);
}

function withoutSpan(health: DeviceHealth, span: SpanOfDevice): DeviceHealth {
  const isOf = health.devices.map((device) => isOfDevice(span, device));
  return {
    ...health,
    states: health.states.flatMap((state) => {
      const { device, heard_ms, history } = state;
      if (isOf[device] !== true) return [state];
      if (isUnderWay(span, heard_ms)) return [];
      return [history === undefined ? state : { ...state, history: historyOutside(history, span, heard_ms) }];
    }),
    silences: health.silences.flatMap((one) =>
      isOf[one.device] === true ? silenceOutside(one, span) : [one],
    ),
    gaps: health.gaps.flatMap((one) => (isOf[one.device] === true ? gapOutside(one, span) : [one])),
  };
}
