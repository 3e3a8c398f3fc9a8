import type { SetupVisitDevice } from "./data.ts";
import { Facts, type SetupVisitProps, ToTest, titleOf, Where } from "./parts.tsx";
import { usualRooms } from "./rooms.ts";
import { kindText, sentence } from "./words.ts";

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
          Name, where the room is not enough
          <input
            name="name"
            maxLength={60}
            autocomplete="off"
            defaultValue={device.named ? device.name : ""}
          />
        </label>
        <button type="submit">Keep it</button>
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
      <summary>It stands in place of a broken one</summary>
      <form method="post" action="/walk/replace">
        <input type="hidden" name="device" value={device.address} />
        <p>It takes the name and the place. What either of them has told stays its own.</p>
        <fieldset class="rooms">
          <legend>The broken one</legend>
          {order.map((one) => (
            <label key={one.address}>
              <input type="radio" name="old" value={one.address} required={true} /> <bdi>{titleOf(one)}</bdi>
              {one.overdue ? " (silent)" : ""}
            </label>
          ))}
        </fieldset>
        <button type="submit">Take its place</button>
      </form>
    </details>
  );
}

function NamedList({ devices }: { devices: readonly SetupVisitDevice[] }) {
  const named = devices.filter(({ named }) => named);
  if (named.length === 0) return null;
  return (
    <>
      <h2>Named already</h2>
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
