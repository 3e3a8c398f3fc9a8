import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { Frame } from "../../parts/frame.tsx";
import { TonesContext } from "../../parts/tones.ts";
import { clockText } from "../../time-text.ts";
import { Line } from "./line.tsx";
import { Naming } from "./naming.tsx";
import { Facts, Next, type Shown, ToTest, titleOf, Where } from "./parts.tsx";
import { AcceptanceRecord } from "./record.tsx";
import { byRoom, countText, openedText, sentence } from "./words.ts";

/** The installer's walk: one step a screen. */
export function WalkPage(data: Shown) {
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

function Find(data: Shown) {
  const { devices, state } = data;
  const { joining, opened, started, failed, problem } = state;
  return (
    <>
      <Where data={data}>find the devices</Where>
      <h1 aria-live="polite">
        {devices.length === 0 ? "Nothing has been found yet." : `${countText(devices.length)} found.`}
      </h1>
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
      <ul class="walk-devices">
        {failed.map(({ address, reason, remedy }) => (
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
            <Facts device={device} />
          </li>
        ))}
      </ul>
      {devices.some(({ named }) => !named) ? <Next href="/walk?step=name">Name them</Next> : null}
      {devices.some(({ named }) => named) ? <ToTest data={data} /> : null}
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

function Test(data: Shown) {
  const { devices, since_ms, locale, zone, now_ms } = data;
  const spoken = devices.filter(({ spoke_ms }) => spoke_ms !== null && spoke_ms >= since_ms);
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
        {spoken.length === devices.length && devices.length > 0
          ? "Every device has spoken."
          : `${spoken.length} of ${devices.length} have spoken.`}
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
                {has && spoke_ms !== null ? `spoke at ${clockText(spoke_ms, times)}` : "not yet"}
              </span>
            </li>
          );
        })}
      </ul>
      <Next href={`/walk?step=record&since=${since_ms}`}>To the record</Next>
    </>
  );
}
