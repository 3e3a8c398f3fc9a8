import type { ComponentChildren } from "preact";
import type { ShownConflict } from "../../conflicts.ts";
import { Moment } from "../../parts/moment.tsx";
import { numberText, type Times } from "../../time-text.ts";
import { sentence } from "../walk/words.ts";

/** The claim to be a known device, behind its name. */
export function conflictText({ differs, keyless }: ShownConflict): string {
  return differs === "key" && keyless ? "came without its key" : texts[differs];
}

const texts: Readonly<Record<ShownConflict["differs"], string>> = {
  way: "came by another way",
  kind: "came as another kind of device",
  model: "came with another model",
  subtype: "came as another kind of sensor",
  key: "came with another key",
  counter: "counts from anew",
};

/** A conflict with its remedy: what was known and what came, since when and how often. `from`: the page whose reader may settle it here. */
export function ConflictWords({ conflict, device, times, isTold = false, from }: ConflictShown) {
  const { address, differs, why, known_ms, first_ms, last_ms, count } = conflict;
  const hasOneCause = differs === "counter";
  return (
    <>
      {isTold ? null : (
        <>
          {device} {conflictText(conflict)}
          {hasOneCause ? ". " : ": somebody may have put another device in its place. "}
        </>
      )}
      {isTold && !hasOneCause ? "Somebody may have put another device in its place. " : ""}
      {sentence(why)} It is known since <Moment at_ms={known_ms} times={times} />; what came was refused{" "}
      {count === 1 ? "once" : `${numberText(count, times.locale)} times`}, first{" "}
      <Moment at_ms={first_ms} times={times} />
      {count === 1 ? "" : ", last "}
      {count === 1 ? null : <Moment at_ms={last_ms} times={times} />}, and nothing of it is recorded.
      {from === undefined ? (
        <>
          {" "}
          If it was reset or replaced, run <code>lintel items accept {address}</code> at the gateway; else{" "}
          <code>lintel items refuse {address}</code>.
        </>
      ) : (
        <form method="post" action="/walk/conflict" class="conflict">
          <input type="hidden" name="device" value={address} />
          <input type="hidden" name="seen" value={first_ms} />
          <input type="hidden" name="from" value={from} />
          <button type="submit" name="do" value="accept">
            {hasOneCause ? "Its battery was changed" : "It was replaced"}
          </button>
          <button type="submit" name="do" value="refuse">
            {hasOneCause ? "Go on refusing it" : "Keep the known one"}
          </button>
        </form>
      )}
    </>
  );
}

interface ConflictShown {
  readonly conflict: ShownConflict;
  /** Its name, as the page shows it. */
  readonly device: ComponentChildren;
  readonly times: Times;
  /** The first sentence stands elsewhere already. */
  readonly isTold?: boolean;
  readonly from: "home" | "walk" | undefined;
}
