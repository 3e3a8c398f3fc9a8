/** The change from one value of JSON to another. It is JSON itself, and a browser gets it in the place of the whole value. */
export type Difference =
  /** Another value. */
  | { readonly to: unknown }
  /** An object with some values changed, and without some. */
  | { readonly set: Readonly<Record<string, Difference>>; readonly gone?: readonly string[] }
  | { readonly parts: readonly ListPart[] };

/** A part of the new list: values of the old one as they were, one of them changed, or a new one. */
type ListPart = readonly [first: number, count: number] | ({ readonly at: number } & Difference) | Difference;

/** The difference of two values as JSON has them; undefined where there is none. */
export function differenceOf(before: unknown, after: unknown): Difference | undefined {
  if (Array.isArray(before) && Array.isArray(after)) return differenceOfLists(before, after);
  if (!isRecord(before) || !isRecord(after)) return before === after ? undefined : { to: after };
  const set: Record<string, Difference> = {};
  for (const [name, value] of Object.entries(after)) {
    const change = Object.hasOwn(before, name) ? differenceOf(before[name], value) : { to: value };
    if (change !== undefined) set[name] = change;
  }
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  if (gone.length > 0) return { set, gone };
  return Object.keys(set).length === 0 ? undefined : { set };
}

/** Rows come and go, and most stay as they are: what stays is told by its place. */
function differenceOfLists(before: readonly unknown[], after: readonly unknown[]): Difference | undefined {
  const texts = before.map((value) => JSON.stringify(value));
  const places = new Map(texts.map((text, place) => [text, place]));
  const parts: ListPart[] = [];
  let next = 0;
  for (const value of after) {
    const text = JSON.stringify(value);
    const place = texts[next] === text ? next : places.get(text);
    if (place === undefined) {
      const change = next < before.length ? differenceOf(before[next], value) : undefined;
      parts.push(change === undefined || "to" in change ? { to: value } : { at: next, ...change });
      next += 1;
      continue;
    }
    const last = parts.at(-1);
    if (isRun(last) && last[0] + last[1] === place) parts[parts.length - 1] = [last[0], last[1] + 1];
    else parts.push([place, 1]);
    next = place + 1;
  }
  const isSame = parts.length <= 1 && parts.every((part) => isRun(part) && part[0] === 0);
  if (isSame && before.length === after.length) return undefined;
  return JSON.stringify(parts).length < JSON.stringify(after).length ? { parts } : { to: after };
}

/** The value that a difference makes of the one before, which stays as it is. */
export function applied(before: unknown, difference: Difference): unknown {
  if ("to" in difference) return difference.to;
  if ("parts" in difference) {
    const list = before as readonly unknown[];
    return difference.parts.flatMap((part) =>
      isRun(part)
        ? list.slice(part[0], part[0] + part[1])
        : [applied("at" in part ? list[part.at] : undefined, part)],
    );
  }
  const { set, gone = [] } = difference;
  const record = { ...(before as Readonly<Record<string, unknown>>) };
  for (const name of gone) delete record[name];
  for (const [name, change] of Object.entries(set)) record[name] = applied(record[name], change);
  return record;
}

function isRun(part: ListPart | undefined): part is readonly [number, number] {
  return Array.isArray(part);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
