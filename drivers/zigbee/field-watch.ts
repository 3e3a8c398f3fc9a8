/**
 * Calls `seen` with what zigbee-herdsman puts into a field of its own, as soon as it does, and with what is there already:
 * it makes its parts in the middle of its start, and hands none of them out before it is done.
 */
export function whenSet(owner: object, field: string, seen: (value: unknown) => void): void {
  let held = (owner as Record<string, unknown>)[field];
  if (held !== undefined) seen(held);
  Object.defineProperty(owner, field, {
    configurable: true,
    enumerable: true,
    get: () => held,
    set: (value: unknown) => {
      held = value;
      if (value !== undefined) seen(value);
    },
  });
}
