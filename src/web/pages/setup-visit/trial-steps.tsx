import type { TargetedSubmitEvent } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { Trial } from "../../../domain/acceptance-trials.ts";
import { TonesContext } from "../parts/plots-and-tones.ts";
import { clockText, type Times } from "../time-text.ts";
import { Faults, Next, type SetupVisitProps, Where } from "./setup-visit-parts.tsx";
import { sentence } from "./setup-visit-words.ts";

/** Every device and line proves itself, one after the other: the technician taps it, and does what it asks. */
export function Test(data: SetupVisitProps) {
  const rows = data.trial?.rows ?? [];
  const done = rows.filter(({ state }) => state === "done" || state === "later").length;
  const now = rows.find(({ state }) => state === "now");
  const tones = useContext(TonesContext);
  const [isLoud, setLoud] = useState(false);
  const before = useRef(done);
  useEffect(() => {
    if (isLoud && done > before.current) tones?.play();
    before.current = done;
  }, [done, isLoud, tones]);
  return (
    <>
      <Where data={data}>walk and test</Where>
      <h1 aria-live="polite">
        {now !== undefined
          ? `${now.title}: ${now.asks}`
          : rows.length > 0 && done === rows.length
            ? "Everything was tried, and did its task."
            : `${done} of ${rows.length} done.`}
      </h1>
      <p>Go to a device. Tap “Try” before you come into its view, then do what the page asks.</p>
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
        {rows.map((row) => (
          <TrialItem key={row.of} row={row} times={data} />
        ))}
      </ul>
      <Next href="/walk?step=finish">Finish</Next>
    </>
  );
}

function TrialItem({ row, times }: { row: Trial; times: Times }) {
  const { of, title, room, state, note } = row;
  return (
    <li class={`walk-device walk-trial ${state === "done" ? "spoken" : ""}`}>
      <div class="walk-facts">
        <strong>
          <span class="walk-tick" aria-hidden="true">
            {ticks[state]}
          </span>
          <bdi>{title}</bdi>
        </strong>
        <span class={state === "missed" ? "needed" : undefined}>
          {room === null ? "" : `${room} · `}
          {stateText(row, times)}
          {note === null ? "" : ` · ${note.replace(/\.$/, "")}`}
        </span>
      </div>
      <form method="post" action="/walk/try" onSubmit={sendInPlace}>
        <input type="hidden" name="of" value={of} />
        <button type="submit" aria-label={`${state === "untried" ? "Try" : "Try again"}: ${title}`}>
          {state === "untried" ? "Try" : "Try again"}
        </button>
      </form>
    </li>
  );
}

/** Sends a form without leaving the page, which then still may sound tones; what comes of it arrives with the page's live data. */
function sendInPlace(event: TargetedSubmitEvent<HTMLFormElement>): void {
  event.preventDefault();
  const form = event.currentTarget;
  const body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => form.submit());
}

const ticks: Readonly<Record<Trial["state"], string>> = {
  ...{ untried: "○", now: "→", done: "✓", later: "✓", missed: "✗" },
};

function stateText({ state, asks, done_ms }: Trial, times: Times): string {
  if (state === "done") return `done at ${clockText(done_ms ?? 0, times)}`;
  if (state === "missed") return "did not answer";
  return state === "later" ? "tells later, when Lintel reads it" : asks.replace(/\.$/, "");
}

/** The end of the visit: what is not right yet, and the signature. */
export function Finish(data: SetupVisitProps) {
  const { faults = [], finish = null, tester = "" } = data.trial ?? {};
  return (
    <>
      <Where data={data}>finish</Where>
      <h1 aria-live="polite">
        {finish === "making"
          ? "The box compares its days with central, and signs the record."
          : finish !== null && "number" in finish
            ? finish.answer
            : faults.length === 0
              ? "Everything did its task."
              : `${faults.length} ${faults.length === 1 ? "thing is" : "things are"} not right yet.`}
      </h1>
      {finish === "making" ? (
        <p>It takes up to a minute.</p>
      ) : finish !== null && "number" in finish ? (
        <>
          <p>Record {finish.number} is signed.</p>
          <Next href={`/acceptance?number=${finish.number}`}>Show the record</Next>
        </>
      ) : (
        <>
          {finish === null ? null : <p class="needed">{sentence(finish.why)}</p>}
          <Faults faults={faults} />
          <form method="post" action="/walk/finish">
            <label>
              Your name
              <input name="tester" maxLength={60} required={true} autocomplete="name" defaultValue={tester} />
            </label>
            <button type="submit">Finish</button>
          </form>
          <p>The record is signed as things are now, and nothing that happens later changes it.</p>
        </>
      )}
      <p>
        <a class="walk-link" href="/walk?step=test">
          Back to the test
        </a>
      </p>
    </>
  );
}
