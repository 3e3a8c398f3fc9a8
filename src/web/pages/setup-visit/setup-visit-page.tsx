import { ConflictWords } from "../home/home-words.tsx";
import { Frame } from "../parts/page-frame.tsx";
import { Line, Naming } from "./naming-steps.tsx";
import type { SetupVisitDevice } from "./setup-visit-data.ts";
import { Facts, Next, type SetupVisitProps, ToTest, Where } from "./setup-visit-parts.tsx";
import { countText, openedText, sentence } from "./setup-visit-words.ts";
import { Finish, Test } from "./trial-steps.tsx";

/** The set-up visit: one step a screen. */
export function SetupVisitPage(data: SetupVisitProps) {
  const Step = stepsOf[data.step];
  return (
    <Frame locale={data.locale} now_ms={data.now_ms} trail={data.trail} zone={data.zone}>
      <div class="walk">
        <Step {...data} />
      </div>
    </Frame>
  );
}

const stepsOf = { find: Find, name: Naming, line: Line, test: Test, finish: Finish };

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

function foundText(devices: readonly SetupVisitDevice[]): string {
  if (devices.length === 0) return "Nothing has been found yet.";
  const unnamed = devices.filter(({ named }) => !named).length;
  return `${countText(devices.length)} found${unnamed === 0 ? "" : `, ${unnamed} without a name`}.`;
}
