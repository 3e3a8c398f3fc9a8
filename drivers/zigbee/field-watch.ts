/**
 * Calls `seen` with the value of a field, where it has one, and with each new value as soon as it is set. zigbee-herdsman makes its
 * parts in the middle of its start, and gives access to none of them before the start has ended.
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
