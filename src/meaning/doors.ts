import { joined, type TimeSpan } from "./span.ts";

/** A pill box's doors from this moment on: bit p is set while door p is open. Unix milliseconds. */
export interface DoorState {
  readonly stamp_ms: number;
  readonly event: number;
}

/** One door that went up or down. */
export interface DoorChange {
  readonly at_ms: number;
  readonly door: number;
  readonly opened: boolean;
}

/** A door that stood open: the end is absent while it still does, the start where nobody saw it open. */
export interface Opening {
  readonly door: number;
  readonly opened_ms?: number;
  readonly closed_ms?: number;
}

/**
 * The doors that changed from each state to the next, in order of time. `before` is the state that held before
 * the first one; a box whose past isn't known is taken to have been closed.
 */
export function doorChanges(states: readonly DoorState[], before = 0): DoorChange[] {
  const changes: DoorChange[] = [];
  let open = before;
  for (const { stamp_ms: at_ms, event } of inOrder(states)) {
    const differing = (open ^ event) & allDoors;
    open = event;
    for (let door = 0; door < doorCount; door++)
      if ((differing >> door) & 1) changes.push({ at_ms, door, opened: ((open >> door) & 1) === 1 });
  }
  return changes;
}

/**
 * When the box was being filled again: more than 6 doors opened or closed within ten minutes, as the interface's
 * own guidance has it. Such stretches that overlap are one.
 */
export function reloads(changes: readonly DoorChange[]): TimeSpan[] {
  const spans: TimeSpan[] = [];
  for (let last = reload_changes_max; last < changes.length; last++) {
    const from_ms = changes[last - reload_changes_max]?.at_ms ?? 0;
    const to_ms = changes[last]?.at_ms ?? 0;
    // The end of a span is not in it, and the last change of a reload is.
    if (to_ms - from_ms <= reload_span_ms) spans.push({ from_ms, to_ms: to_ms + 1 });
  }
  return joined(spans);
}

/** Each stay of a door in the open, in the order in which they began; `before` as in `doorChanges`. */
export function openings(changes: readonly DoorChange[], before = 0): Opening[] {
  const done: Opening[] = [];
  const open = new Map<number, Opening>();
  for (let door = 0; door < doorCount; door++) if ((before >> door) & 1) open.set(door, { door });
  for (const { at_ms, door, opened } of changes) {
    if (opened) open.set(door, { door, opened_ms: at_ms });
    else {
      done.push({ ...(open.get(door) ?? { door }), closed_ms: at_ms });
      open.delete(door);
    }
  }
  return [...done, ...open.values()].sort(
    (one, other) => (one.opened_ms ?? -Infinity) - (other.opened_ms ?? -Infinity),
  );
}

function inOrder(states: readonly DoorState[]): readonly DoorState[] {
  return states.toSorted((one, other) => one.stamp_ms - other.stamp_ms);
}

const doorCount = 7;
const allDoors = 2 ** doorCount - 1;
/** This many changes are still somebody who takes pills. */
const reload_changes_max = 6;
const reload_span_ms = 10 * 60_000;
