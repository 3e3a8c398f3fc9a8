import type { ComponentChildren } from "preact";
import type { AcceptanceFault } from "../../../domain/acceptance.ts";
import { signalText } from "../home/home-words.tsx";
import type { FrameData } from "../site.ts";
import { durationText, secondText, type Times } from "../time-text.ts";
import type { SetupVisitData, SetupVisitDevice, SetupVisitStep } from "./setup-visit-data.ts";
import { kindText, sentence } from "./setup-visit-words.ts";

export type SetupVisitProps = SetupVisitData & FrameData;

/** The present step. A home without curtain sensors has no line to measure. */
export function Where({ data, children }: { data: SetupVisitProps; children: ComponentChildren }) {
  const steps = stepsOf(data);
  return (
    <p class="where">
      Step {steps.indexOf(data.step) + 1} of {steps.length} · {children}
    </p>
  );
}

function stepsOf({ devices, step }: SetupVisitProps): SetupVisitStep[] {
  const hasLine = step === "line" || devices.some(isInLine);
  return hasLine ? ["find", "name", "line", "test", "finish"] : ["find", "name", "test", "finish"];
}

/** A curtain sensor whose position comes from this page, and not from the configuration. */
export function isInLine({ subtype, line }: SetupVisitDevice): boolean {
  return subtype === "curtain" && line === null;
}

export function Next({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <p>
      <a class="next" href={href}>
        {children}
      </a>
    </p>
  );
}

/** The link to the test, or first to the line if it has to be measured; `measured`: the reader has seen that step. */
export function ToTest({ data, measured = false }: { data: SetupVisitProps; measured?: boolean }) {
  const sensors = data.devices.filter(isInLine);
  if (!measured && sensors.some(({ metres }) => metres === null))
    return <Next href="/walk?step=line">Measure the line</Next>;
  return (
    <>
      <Next href="/walk?step=test">Walk and test</Next>
      {measured || sensors.length === 0 ? null : (
        <p>
          <a class="walk-link" href="/walk?step=line">
            Change how far the curtain sensors are from each other
          </a>
        </p>
      )}
    </>
  );
}

/** Faults of an installation, each with its remedy. */
export function Faults({ faults }: { faults: readonly AcceptanceFault[] }) {
  if (faults.length === 0) return null;
  return (
    <ul>
      {faults.map(({ what, remedy }) => (
        <li key={what}>
          <span class="needed">{what}</span> {remedy}
        </li>
      ))}
    </ul>
  );
}

export function Facts({ device, times }: { device: SetupVisitDevice; times: Times }) {
  const { named, spoke_ms, room, model, address, linkquality, replaces, overdue, heard_ms } = device;
  const signal = linkquality === null || overdue ? null : signalText(linkquality);
  const what = [
    ...(named ? [`${kindText(device)}${room === null ? "" : ` in ${room}`}`] : []),
    ...(model === null ? [] : [model]),
  ];
  return (
    <div class="walk-facts">
      <strong>
        <bdi>{titleOf(device)}</bdi>
      </strong>
      {overdue && heard_ms !== null ? (
        <span class="needed">Not heard for {durationText(times.now_ms - heard_ms)}</span>
      ) : null}
      {signal === null ? null : (
        <span class={signal === "weak" ? "needed" : undefined}>
          Signal {signal}
          {signal === "weak" ? ": bring it, or the stick, nearer" : ""}
        </span>
      )}
      {what.length === 0 ? null : <span>{what.join(" · ")}</span>}
      {named || spoke_ms === null ? null : <span>Heard at {secondText(spoke_ms, times)}</span>}
      {replaces === null ? null : (
        <span>
          in place of <bdi>{replaces}</bdi>
        </span>
      )}
      <span class="address">{address}</span>
    </div>
  );
}

/** Title of a device: its name, or its kind as long as it has no name. */
export function titleOf(device: SetupVisitDevice): string {
  return device.named ? device.name : sentence(kindText(device)).replace(/\.$/, "");
}
