import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { Frame } from "../../parts/frame.tsx";
import { TonesContext } from "../../parts/tones.ts";
import { clockText, momentText, type Times } from "../../time-text.ts";
import { ConflictWords } from "../home/conflict.tsx";
import type { SetupVisitDevice } from "./data.ts";
import { Line } from "./line.tsx";
import { Naming } from "./naming.tsx";
import { Facts, Next, type SetupVisitProps, ToTest, titleOf, visitTestOf, Where } from "./parts.tsx";
import { AcceptanceRecord } from "./record.tsx";
import { byRoom, countText, openedText, sentence } from "./words.ts";

/** The installer's walk: one step a screen. */
export function SetupVisitPage(data: SetupVisitProps) {
  const Step = stepsOf[data.step];
  return (
    <Frame locale={data.locale} now_ms={data.now_ms} trail={data.trail}>
      <div class="walk">
        <Step {...data} />
      </div>
    </Frame>
  );
}

const stepsOf = { find: Find, name: Naming, line: Line, test: Test, record: AcceptanceRecord };

function Find(data: SetupVisitProps) {
  const { devices, state, conflicts } = data;
  const { joining, opened, started, failed, problem } = state;
  return (
    <>
      <Where data={data}>find the devices</Where>
      <h1 aria-live="polite">{foundText(devices)}</h1>
      {problem === null ? null : <p class="needed">{problem}.</p>}
      <form method="post" action="/walk/joining">
        <p>
          {opened !== null
            ? `${openedText(opened, data)} Put a battery in one, or press its button, and wait until it stands here.`
            : joining === "waiting"
              ? "The radio is starting."
              : "The door is closed: no device comes in."}
        </p>
        <button type="submit" name="do" value={joining === "closed" ? "open" : "close"}>
          {joining === "closed" ? "Let devices in" : "Let no more in"}
        </button>
      </form>
      {devices.length === 0 ? null : devices.every(({ named }) => named) ? (
        <ToTest data={data} />
      ) : (
        <Next href="/walk?step=name">Name them</Next>
      )}
      <ul class="walk-devices">
        {conflicts.map((conflict) => (
          <li key={conflict.address} class="walk-conflict needed">
            <ConflictWords
              conflict={conflict}
              device={
                <strong>
                  <bdi>{conflict.title}</bdi>
                </strong>
              }
              times={data}
              from="walk"
            />
          </li>
        ))}
        {failed
          .filter((one) => !conflicts.some(({ address }) => address === one.address))
          .map(({ address, reason, remedy }) => (
            <li key={address} class="walk-device needed">
              <strong>{address} could not join:</strong> {reason}. {sentence(remedy)}
            </li>
          ))}
        {started.map((address) => (
          <li key={address} class="walk-device">
            {address} is coming in…
          </li>
        ))}
        {devices.toReversed().map((device) => (
          <li key={device.address} class="walk-device">
            <Facts device={device} times={data} />
          </li>
        ))}
      </ul>
      {devices.length > 0 && devices.every(({ named }) => named) ? (
        <p>
          <a class="walk-link" href="/walk?step=name">
            Change a name or a room
          </a>
        </p>
      ) : null}
    </>
  );
}

/** Of a device that has not spoken. */
function notYet({ later, heard_ms }: SetupVisitDevice, times: Times): string {
  if (!later) return "not yet";
  const heard = heard_ms === null ? "" : ` · last heard ${momentText(heard_ms, times)}`;
  return `tells later, when it is asked${heard}`;
}

function foundText(devices: readonly SetupVisitDevice[]): string {
  if (devices.length === 0) return "Nothing has been found yet.";
  const unnamed = devices.filter(({ named }) => !named).length;
  return `${countText(devices.length)} found${unnamed === 0 ? "" : `, ${unnamed} without a name`}.`;
}

function Test(data: SetupVisitProps) {
  const { devices, since_ms, locale, zone, now_ms } = data;
  const { spoken, awaited } = visitTestOf(data);
  const tones = useContext(TonesContext);
  const [isLoud, setLoud] = useState(false);
  const before = useRef(spoken.length);
  useEffect(() => {
    if (isLoud && spoken.length > before.current) tones?.play();
    before.current = spoken.length;
  }, [spoken.length, isLoud, tones]);
  const times = { locale, zone, now_ms };
  return (
    <>
      <Where data={data}>walk and test</Where>
      <h1 aria-live="polite">
        {awaited.length === 0 && devices.length > 0
          ? "Every device has spoken."
          : `${spoken.length} of ${spoken.length + awaited.length} have spoken.`}
      </h1>
      <p>Walk past each sensor, open each door once, and use each of the others.</p>
      <button
        type="button"
        aria-pressed={isLoud}
        onClick={() => {
          tones?.allow();
          setLoud(true);
        }}
      >
        {isLoud ? "A tone tells of each" : "Sound a tone for each"}
      </button>
      <ul class="walk-devices">
        {byRoom(devices).map((device) => {
          const { address, room, spoke_ms } = device;
          const has = spoken.includes(device);
          return (
            <li key={address} class={has ? "walk-device spoken" : "walk-device"}>
              <strong>
                <span class="walk-tick" aria-hidden="true">
                  {has ? "✓" : "○"}
                </span>
                <bdi>{titleOf(device)}</bdi>
              </strong>
              <span>
                {room === null ? "" : `${room} · `}
                {has && spoke_ms !== null ? `spoke at ${clockText(spoke_ms, times)}` : notYet(device, times)}
              </span>
            </li>
          );
        })}
      </ul>
      <Next href={`/walk?step=record&since=${since_ms}`}>To the record</Next>
    </>
  );
}
