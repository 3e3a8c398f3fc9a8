import { numberText } from "../time-text.ts";
import type { SetupVisitDevice } from "./setup-visit-data.ts";
import { Facts, isInLine, type SetupVisitProps, ToTest, titleOf, Where } from "./setup-visit-parts.tsx";
import { kindText, sentence } from "./setup-visit-words.ts";

/** A name and a room for each device, one after the other; or the place of a broken one. */
export function Naming(data: SetupVisitProps) {
  const { devices, naming, state } = data;
  const fault = state.unnamed?.address === naming ? state.unnamed.why : null;
  const device = devices.find(({ address }) => address === naming);
  const done = devices.filter(({ named }) => named).length;
  if (device === undefined)
    return (
      <>
        <Where data={data}>name them</Where>
        <h1>{devices.length === 0 ? "There is nothing to name yet." : "Everything has a name."}</h1>
        <NamedList devices={devices} />
        <ToTest data={data} />
      </>
    );
  return (
    <>
      <Where data={data}>
        {done} of {devices.length} have a name
      </Where>
      <h1>Where is this {kindText(device)}?</h1>
      <Facts device={device} times={data} />
      {fault === null ? null : <p class="needed">{sentence(fault)}</p>}
      {/* A form of its own for each device: nothing of the one before stays in it. */}
      <form key={device.address} method="post" action="/walk/name">
        <input type="hidden" name="device" value={device.address} />
        <fieldset class="rooms">
          <legend>Room</legend>
          {roomsOf(devices).map((room) => (
            <label key={room}>
              <input type="radio" name="room" value={room} defaultChecked={device.room === room} /> {room}
            </label>
          ))}
        </fieldset>
        <label>
          Another room
          <input name="other" maxLength={60} autocomplete="off" />
        </label>
        <label>
          Name, if the room is not enough
          <input
            name="name"
            maxLength={60}
            autocomplete="off"
            defaultValue={device.named ? device.name : ""}
          />
        </label>
        <button type="submit">Save</button>
      </form>
      <Replacing key={`place ${device.address}`} device={device} devices={devices} />
      <NamedList devices={devices} />
    </>
  );
}

/** The usual rooms, and those that were written here before. */
function roomsOf(devices: readonly SetupVisitDevice[]): string[] {
  return [...new Set([...usualRooms, ...devices.flatMap(({ room }) => room ?? [])])];
}

/** For a new device: the ones whose place it may take, those that are silent first. */
function Replacing({ device, devices }: { device: SetupVisitDevice; devices: readonly SetupVisitDevice[] }) {
  const alike = devices.filter(
    (one) => one !== device && one.named && one.kind === device.kind && one.subtype === device.subtype,
  );
  if (device.named || alike.length === 0) return null;
  const order = alike.toSorted((one, other) => Number(other.overdue) - Number(one.overdue));
  return (
    <details class="replacing">
      <summary>It replaces a broken one</summary>
      <form method="post" action="/walk/replace">
        <input type="hidden" name="device" value={device.address} />
        <p>It takes the name and the place. Each of the two keeps its own readings.</p>
        <fieldset class="rooms">
          <legend>The broken one</legend>
          {order.map((one) => (
            <label key={one.address}>
              <input type="radio" name="old" value={one.address} required={true} /> <bdi>{titleOf(one)}</bdi>
              {one.overdue ? " (silent)" : ""}
            </label>
          ))}
        </fieldset>
        <button type="submit">Replace the broken one</button>
      </form>
    </details>
  );
}

function NamedList({ devices }: { devices: readonly SetupVisitDevice[] }) {
  const named = devices.filter(({ named }) => named);
  if (named.length === 0) return null;
  return (
    <>
      <h2>Devices with a name</h2>
      <ul class="walk-devices">
        {named.map(({ address, name }) => (
          <li key={address} class="walk-device">
            <a class="walk-link" href={`/walk?step=name&device=${encodeURIComponent(address)}`}>
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Rooms that most homes have, to be tapped. */
export const usualRooms = [
  "Kitchen",
  "Bedroom",
  "Bathroom",
  "Living room",
  "Hall",
  "Entrance",
  "Office",
] as const;

/** Distances of curtain sensors along their line, from which walking speed is reckoned. */
export function Line(data: SetupVisitProps) {
  const { devices, lines, orders, state, locale } = data;
  const sensors = devices.filter(isInLine);
  const fault = sensors.some(({ address }) => address === state.unnamed?.address) ? state.unnamed : null;
  const placed = sensors.filter(({ room }) => room !== null);
  const rooms = Map.groupBy(placed, ({ room }) => room as string);
  return (
    <>
      <Where data={data}>measure the line</Where>
      <h1 aria-live="polite">{answerOf(data)}</h1>
      <p>
        Curtain sensors in a row measure how fast somebody walks, if Lintel knows where each of them is.
        Measure from one end of the row, along the wall, to the middle of each sensor.
      </p>
      {fault === null ? null : <p class="needed">{sentence(fault.why)}</p>}
      {sensors
        .filter(({ room }) => room === null)
        .map((device) => (
          <p key={device.address} class="needed">
            The room of <bdi>{titleOf(device)}</bdi> is missing:{" "}
            <a href={`/walk?step=name&device=${encodeURIComponent(device.address)}`}>enter it</a>.
          </p>
        ))}
      {[...rooms.keys()].map((room) => (
        <OrderWalk key={room} room={room} seen={orders[room]} of={rooms.get(room) ?? []} />
      ))}
      {placed.length === 0 ? null : (
        <form method="post" action="/walk/line">
          {[...rooms].map(([room, of]) => (
            <fieldset key={room} class="walk-line">
              <legend>
                <bdi>{room}</bdi>, metres from the end
              </legend>
              {inOrder(of, orders[room]).map((device) => (
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
          <button type="submit">Save the distances</button>
        </form>
      )}
      <ToTest data={data} measured={true} />
    </>
  );
}

/** One walk along the sensors of a room tells them apart: they stand in the order in which they saw the technician. */
function OrderWalk(of: {
  readonly room: string;
  readonly seen: readonly string[] | undefined;
  readonly of: readonly SetupVisitDevice[];
}) {
  const { room, seen = [] } = of;
  const left = of.of.filter(({ address }) => !seen.includes(address));
  return (
    <form method="post" action="/walk/try" class="walk-order">
      <input type="hidden" name="of" value={`order ${room}`} />
      <button type="submit">{`Walk along ${room}`}</button>
      <p aria-live="polite">
        {of.seen === undefined
          ? "Which sensor is which? Tap, then walk along the row once, from the end that you measure from."
          : left.length > 0
            ? `${seen.length} of ${of.of.length} saw you. Walk on.`
            : "They stand below in the order in which they saw you."}
      </p>
    </form>
  );
}

/** Sensors as they saw the technician, and the others behind them. */
function inOrder(devices: readonly SetupVisitDevice[], seen: readonly string[] = []): SetupVisitDevice[] {
  const placeOf = ({ address }: SetupVisitDevice) =>
    seen.includes(address) ? seen.indexOf(address) : seen.length;
  return devices.toSorted((one, other) => placeOf(one) - placeOf(other));
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
  if (!devices.some(isInLine))
    return devices.some(({ line }) => line !== null)
      ? "The configuration has the distances of all curtain sensors."
      : "There is no curtain sensor to measure here.";
  const measured = lines.filter(({ fault }) => fault === null);
  const left = devices.filter((device) => isInLine(device) && device.metres === null).length;
  if (measured.length > 0 && left === 0) return "The line is measured.";
  return left === 1
    ? "1 curtain sensor is not measured yet."
    : `${left} curtain sensors are not measured yet.`;
}
