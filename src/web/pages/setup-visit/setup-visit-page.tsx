import { Fragment } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { ConflictWords, signalText } from "../home/home-words.tsx";
import { Frame } from "../parts/page-frame.tsx";
import { TonesContext } from "../parts/plots-and-tones.ts";
import { Table } from "../parts/table.tsx";
import { clockText, momentText, numberText, type Times, yearDateText } from "../time-text.ts";
import { Line, Naming } from "./naming-steps.tsx";
import type { SetupVisitDevice } from "./setup-visit-data.ts";
import {
  Facts,
  Next,
  type SetupVisitProps,
  ToTest,
  titleOf,
  visitTestOf,
  Where,
} from "./setup-visit-parts.tsx";
import { byRoom, countText, kindText, openedText, sentence } from "./setup-visit-words.ts";

/** The set-up visit: one step a screen. */
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
  const { joining, canJoin, opened, started, failed, problem } = state;
  return (
    <>
      <Where data={data}>find the devices</Where>
      <h1 aria-live="polite">{foundText(devices)}</h1>
      {problem === null ? null : <p class="needed">{problem}.</p>}
      {canJoin ? (
        <form method="post" action="/walk/joining">
          <p>
            {opened !== null
              ? `${openedText(opened, data)} Put a battery in one, or press its button, and wait until it appears here.`
              : joining === "waiting"
                ? "The radio is starting."
                : "No new device can join now. To let devices in, tap the button."}
          </p>
          <button type="submit" name="do" value={joining === "closed" ? "open" : "close"}>
            {joining === "closed" ? "Let devices in" : "Stop letting devices in"}
          </button>
        </form>
      ) : (
        <p class="needed">
          This gateway has no radio that lets devices join. Add a [zigbee] or [ble] section to its
          configuration, and restart it.
        </p>
      )}
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
            {address} is joining…
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

/** Words for a device that the walk test has not heard. */
function notYet({ later, heard_ms }: SetupVisitDevice, times: Times): string {
  if (!later) return "not yet";
  const heard = heard_ms === null ? "" : ` · last heard ${momentText(heard_ms, times)}`;
  return `reports later, when Lintel reads it${heard}`;
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
          ? "Every device was heard."
          : `${spoken.length} of ${countText(spoken.length + awaited.length)} heard.`}
      </h1>
      <p>Walk past each sensor, open each door once, and use every other device once.</p>
      <button
        type="button"
        aria-pressed={isLoud}
        onClick={() => {
          tones?.allow();
          setLoud(true);
        }}
      >
        {isLoud ? "A tone sounds for each" : "Sound a tone for each"}
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
                {has && spoke_ms !== null ? `heard at ${clockText(spoke_ms, times)}` : notYet(device, times)}
              </span>
            </li>
          );
        })}
      </ul>
      <Next href={`/walk?step=record&since=${since_ms}`}>To the record</Next>
    </>
  );
}

/** The acceptance record: printed on A4, and signed. */
export function AcceptanceRecord(data: SetupVisitProps) {
  const { home, zone, devices, troubles, since_ms, now_ms, locale } = data;
  const times = { locale, zone, now_ms };
  const dateAndTime = (at_ms: number) => `${yearDateText(at_ms, times)}, ${clockText(at_ms, times)}`;
  const { spoken, awaited } = visitTestOf(data);
  const isRight = troubles.length === 0 && devices.length > 0 && awaited.length === 0;
  return (
    <article class="acceptance">
      <Where data={data}>acceptance record</Where>
      <h1>
        {isRight
          ? `${home === null ? "This home" : `Home ${home}`} is set up: ${countText(devices.length)}, all heard.`
          : `${spoken.length} of ${countText(spoken.length + awaited.length)} heard in the walk test${troubles.length === 0 ? "." : ", and something needs repair."}`}
      </h1>
      {troubles.map(({ what, remedy }) => (
        <p key={what} class="needed">
          {what} {remedy}
        </p>
      ))}
      <RecordFacts data={data} dateAndTime={dateAndTime} />
      <DeviceTable data={data} times={times} />
      <p class="signature">Set up by, date</p>
      <p class="on-screen">Print this page with the browser, on A4.</p>
      {since_ms > 0 && awaited.length > 0 ? (
        <p class="on-screen">
          <a class="walk-link" href={`/walk?step=test&since=${since_ms}`}>
            Go on with the walk test
          </a>
        </p>
      ) : null}
    </article>
  );
}

function RecordFacts(of: { data: SetupVisitProps; dateAndTime: (at_ms: number) => string }) {
  const { data, dateAndTime } = of;
  const { home, zone, version, timeKnown, lines, upload, now_ms, locale } = data;
  return (
    <dl class="facts">
      <dt>Home</dt>
      <dd>{home ?? "without a number"}</dd>
      <dt>Time of this record</dt>
      <dd>
        {dateAndTime(now_ms)} ({zone})
      </dd>
      <dt>Clock</dt>
      <dd>{timeKnown ? "right" : "not known to be right yet: readings wait until it is"}</dd>
      <dt>Lintel</dt>
      <dd>{version}</dd>
      <dt>Upload</dt>
      <dd>
        {upload === null
          ? "none is configured: everything stays in this box"
          : `${upload.uploaded_ms === null ? "nothing has been uploaded yet" : `last ${dateAndTime(upload.uploaded_ms)}`}, to ${upload.url}`}
      </dd>
      {lines.map(({ room, sensors, metres, fault }) => (
        <Fragment key={room}>
          <dt>Line in {room}</dt>
          <dd class={fault === null ? undefined : "needed"}>
            {fault ?? `${sensors} sensors over ${numberText(metres, locale, 2)} m`}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

function DeviceTable({ data, times }: { data: SetupVisitProps; times: Times }) {
  const { devices, locale } = data;
  const { spoken, awaited } = visitTestOf(data);
  return (
    <Table name="Devices" head={["Name", "Room", "What", "Signal", "Battery", "Walk test"]}>
      {byRoom(devices).map((device) => (
        <tr key={device.address}>
          <th scope="row">
            <bdi>{device.name}</bdi>
          </th>
          <td data-label="Room">{device.room ?? ""}</td>
          <td data-label="What">
            <span>
              {kindText(device)}
              {device.model === null ? "" : `, ${device.model}`}{" "}
              <small>
                {device.address}
                {device.metres === null ? "" : `, at ${numberText(device.metres, locale, 2)} m`}
                {device.replaces === null ? "" : `, in place of ${device.replaces}`}
              </small>
            </span>
          </td>
          <td data-label="Signal">{device.linkquality === null ? "" : signalText(device.linkquality)}</td>
          <td data-label="Battery">
            {device.battery_percent === null ? "" : `${Math.round(device.battery_percent)} %`}
          </td>
          <td data-label="Walk test" class={awaited.includes(device) ? "needed" : undefined}>
            {awaited.includes(device) ? "not heard" : heardText(device, spoken, times)}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** When Lintel heard the device in the walk test, or last heard one that reports later. */
function heardText(device: SetupVisitDevice, spoken: readonly SetupVisitDevice[], times: Times): string {
  const { spoke_ms, heard_ms } = device;
  if (spoken.includes(device)) return clockText(spoke_ms ?? 0, times);
  return heard_ms === null ? "" : `reports later, heard ${momentText(heard_ms, times)}`;
}
