import { numberText } from "../../time-text.ts";
import type { SetupVisitDevice } from "./data.ts";
import { isInLine, type SetupVisitProps, ToTest, titleOf, Where } from "./parts.tsx";
import { sentence } from "./words.ts";

/** Distances of curtain sensors along their line, from which walking speed is reckoned. */
export function Line(data: SetupVisitProps) {
  const { devices, lines, state, locale } = data;
  const sensors = devices.filter(isInLine);
  const fault = sensors.some(({ address }) => address === state.unnamed?.address) ? state.unnamed : null;
  const placed = sensors.filter(({ room }) => room !== null);
  const rooms = Map.groupBy(placed, ({ room }) => room as string);
  return (
    <>
      <Where data={data}>measure the line</Where>
      <h1 aria-live="polite">{answerOf(data)}</h1>
      <p>
        Curtain sensors in a row tell how fast somebody walks, if it is known how far they are from each
        other. Measure from one end of the row, along the wall, to the middle of each sensor.
      </p>
      {fault === null ? null : <p class="needed">{sentence(fault.why)}</p>}
      {sensors
        .filter(({ room }) => room === null)
        .map((device) => (
          <p key={device.address} class="needed">
            Nobody has said in which room <bdi>{titleOf(device)}</bdi> is:{" "}
            <a href={`/walk?step=name&device=${encodeURIComponent(device.address)}`}>say it</a>.
          </p>
        ))}
      {placed.length === 0 ? null : (
        <form method="post" action="/walk/line">
          {[...rooms].map(([room, of]) => (
            <fieldset key={room} class="walk-line">
              <legend>
                <bdi>{room}</bdi>, metres from the end
              </legend>
              {of.map((device) => (
                <Distance key={device.address} device={device} />
              ))}
              {lines
                .filter((line) => line.room === room)
                .map(({ sensors: count, metres, fault: lacks }) => (
                  <p key={room} class={lacks === null ? undefined : "needed"}>
                    {lacks === null
                      ? `${count} sensors over ${numberText(metres, locale, 2)} m.`
                      : `This line ${lacks}.`}
                  </p>
                ))}
            </fieldset>
          ))}
          <button type="submit">Keep the distances</button>
        </form>
      )}
      <ToTest data={data} measured={true} />
    </>
  );
}

function Distance({ device }: { device: SetupVisitDevice }) {
  return (
    <label>
      <bdi class="walk-name">{titleOf(device)}</bdi>
      <input
        name={device.address}
        inputMode="decimal"
        autocomplete="off"
        defaultValue={device.metres === null ? "" : String(device.metres)}
      />
    </label>
  );
}

function answerOf({ lines, devices }: SetupVisitProps): string {
  if (!devices.some(isInLine)) return "There is no curtain sensor to measure here.";
  const measured = lines.filter(({ fault }) => fault === null);
  const left = devices.filter((device) => isInLine(device) && device.metres === null).length;
  if (measured.length > 0 && left === 0) return "The line is measured.";
  return left === 1
    ? "1 curtain sensor is not measured yet."
    : `${left} curtain sensors are not measured yet.`;
}
