import { Fragment } from "preact";
import { clockText, momentText, numberText, type Times, yearDateText } from "../../time-text.ts";
import { signalText } from "../home/words.tsx";
import type { SetupVisitDevice } from "./data.ts";
import { type SetupVisitProps, visitTestOf, Where } from "./parts.tsx";
import { byRoom, countText, kindText } from "./words.ts";

/** The acceptance record: printed on A4, and signed. */
export function AcceptanceRecord(data: SetupVisitProps) {
  const { home, zone, version, timeKnown, devices, lines, troubles, upload, since_ms, now_ms, locale } = data;
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
          : `${spoken.length} of ${countText(spoken.length + awaited.length)} spoke in the walk test${troubles.length === 0 ? "." : ", and something is to be mended."}`}
      </h1>
      {troubles.map(({ what, remedy }) => (
        <p key={what} class="needed">
          {what} {remedy}
        </p>
      ))}
      <dl class="facts">
        <dt>Home</dt>
        <dd>{home ?? "without a number"}</dd>
        <dt>Time of this record</dt>
        <dd>
          {dateAndTime(now_ms)} ({zone})
        </dd>
        <dt>Clock</dt>
        <dd>{timeKnown ? "right" : "not known to be right yet: what is heard waits for it"}</dd>
        <dt>Lintel</dt>
        <dd>{version}</dd>
        <dt>Upload</dt>
        <dd>
          {upload === null
            ? "none is configured: everything stays in this box"
            : `${upload.uploaded_ms === null ? "nothing has gone up yet" : `last ${dateAndTime(upload.uploaded_ms)}`}, to ${upload.url}`}
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <section class="wide" tabIndex={0} aria-label="Devices">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Room</th>
              <th scope="col">What</th>
              <th scope="col">Signal</th>
              <th scope="col">Battery</th>
              <th scope="col">Walk test</th>
            </tr>
          </thead>
          <tbody>
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
                <td data-label="Signal">
                  {device.linkquality === null ? "" : signalText(device.linkquality)}
                </td>
                <td data-label="Battery">
                  {device.battery_percent === null ? "" : `${Math.round(device.battery_percent)} %`}
                </td>
                <td data-label="Walk test" class={awaited.includes(device) ? "needed" : undefined}>
                  {awaited.includes(device) ? "not heard" : heardText(device, spoken, times)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
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

/** When it spoke in the walk test, or when one that tells later was last heard. */
function heardText(device: SetupVisitDevice, spoken: readonly SetupVisitDevice[], times: Times): string {
  const { spoke_ms, heard_ms } = device;
  if (spoken.includes(device)) return clockText(spoke_ms ?? 0, times);
  return heard_ms === null ? "" : `tells later, heard ${momentText(heard_ms, times)}`;
}
