import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { parseIfWhole } from "../base/disk/safe-files.ts";
import { type Kind, kindNames } from "./kinds.ts";
import type { IdentityClaim, Verdict } from "./reading.ts";

const word = Type.String({ maxLength: 200 });
const time_ms = Type.Integer({ minimum: 0 });

/** The identity of a device, by which it is the same as before. What is absent it has never said. Times are unix milliseconds. */
export const Identity = Type.Object({
  address: word,
  kind: Type.Union(kindNames.map((name) => Type.Literal(name))),
  /** The driver that hears it, and the part of the driver. */
  driver: word,
  part: Type.Optional(word),
  subtype: Type.Optional(word),
  model: Type.Optional(word),
  key: Type.Optional(Type.Object({ fingerprint: word, made: word })),
  /** The highest that was ever heard. */
  counter: Type.Optional(Type.Integer({ minimum: 0 })),
  since_ms: time_ms,
  /** When a person let it take the place of another, and who. */
  accepted_ms: Type.Optional(time_ms),
  accepted_by: Type.Optional(word),
});
export type Identity = Readonly<Static<typeof Identity>>;

/** Points in which devices differ; `way`: by which driver, or part of it, a device is heard. */
const differences = ["way", "kind", "model", "subtype", "key", "counter"] as const;

/** A device that claims an address under which another one is known. It waits for a person. */
export const Conflict = Type.Object({
  known: Identity,
  claimed: Identity,
  /** Where they differ, and how in words. */
  differs: Type.Union(differences.map((name) => Type.Literal(name))),
  why: word,
  first_ms: time_ms,
  last_ms: time_ms,
  /** How often anything was refused because of it. */
  count: time_ms,
  /** When a person refused it, and who; absent while it is open. */
  refused_ms: Type.Optional(time_ms),
  refused_by: Type.Optional(word),
});
export type Conflict = Readonly<Static<typeof Conflict>>;

const identityCheck = TypeCompiler.Compile(Identity);
const conflictCheck = TypeCompiler.Compile(Conflict);

/** Of texts of the store; what is damaged is undefined. */
export function parseIdentity(text: string): Identity | undefined {
  const value = parseIfWhole(text);
  return identityCheck.Check(value) ? value : undefined;
}

export function parseConflict(text: string): Conflict | undefined {
  const value = parseIfWhole(text);
  return conflictCheck.Check(value) ? value : undefined;
}

type Decision =
  | { readonly verdict: Exclude<Verdict, "conflict">; readonly identity: Identity }
  | {
      readonly verdict: "conflict";
      readonly known: Identity;
      readonly claimed: Identity;
      readonly differs: Conflict["differs"];
      readonly why: string;
    };

/**
 * Decides whether a claim is of a device that is known. `known` are the identities under its address, one a kind. An identity is only ever added to:
 * by what its device had not said before, and by a key only where the device came in while joining is open now, where a person configured the key, or where the
 * device has proven the key before.
 */
export function decide(
  known: readonly Identity[],
  claim: IdentityClaim,
  context: { readonly driver: string; readonly now_ms: number; readonly opened_ms?: number | undefined },
): Decision {
  const claimed = identityOf(claim, context);
  const [first] = known;
  if (first === undefined) return { verdict: "new", identity: claimed };
  const same = known.find(({ kind }) => kind === claimed.kind);
  const difference = differenceOf(same ?? first, claim, { ...context, claimed });
  if (difference !== undefined) {
    const { differs, why } = difference;
    return { verdict: "conflict", known: same ?? first, claimed, differs, why: cut(why) };
  }
  if (same === undefined) return { verdict: "new", identity: claimed };
  const counter = Math.max(same.counter ?? -1, claimed.counter ?? -1);
  const { key = same.key } = claimed;
  return {
    verdict: "same",
    identity: { ...claimed, ...same, ...(key && { key }), ...(counter < 0 ? {} : { counter }) },
  };
}

/** Whether two claims are of the same device, as far as they tell: a counter moves on. */
export function isSameClaim(one: Identity, other: Identity): boolean {
  return textOf(one) === textOf(other);
}

/** An identity that a person has let take the place of another. */
export function acceptedIdentity({ claimed }: Conflict, at_ms: number, by: string): Identity {
  return { ...claimed, since_ms: at_ms, accepted_ms: at_ms, accepted_by: by };
}

/** Who claims to be whom, in a sentence. */
export function conflictText(of: {
  readonly claimed: Pick<Identity, "address">;
  readonly why: string;
}): string {
  return `Another device says that it is ${of.claimed.address}: ${of.why}.`;
}

/** Kind, model, key and listener of an identity, in words. */
export function identityText({ kind, driver, part, subtype, model, key }: Identity): string {
  const what = [kind, subtype, model, key === undefined ? "without a key" : `with a key (${key.made})`];
  return cut([...what, `heard by ${part ?? driver}`].filter((word) => word !== undefined).join(", "));
}

function identityOf(
  { device, part, key, counter }: IdentityClaim,
  { driver, now_ms }: { readonly driver: string; readonly now_ms: number },
): Identity {
  const { kind, address, subtype, model } = device;
  return {
    address,
    kind,
    driver,
    ...(part === undefined ? {} : { part: cut(part) }),
    ...(subtype === undefined ? {} : { subtype: cut(subtype) }),
    ...(model === undefined ? {} : { model: cut(model) }),
    ...(key == null ? {} : { key: { fingerprint: key.fingerprint, made: key.made } }),
    ...(counter === undefined ? {} : { counter }),
    since_ms: now_ms,
  };
}

function differenceOf(
  known: Identity,
  claim: IdentityClaim,
  { claimed, opened_ms = Infinity }: { readonly claimed: Identity; readonly opened_ms?: number | undefined },
): Pick<Conflict, "differs" | "why"> | undefined {
  const by = (differs: Conflict["differs"], why: string) => ({ differs, why });
  if (known.driver !== claimed.driver)
    return by("way", `it is known by [${known.driver}], and is now heard by [${claimed.driver}]`);
  const told = (field: "part" | "subtype" | "model") =>
    known[field] !== undefined && claimed[field] !== undefined && known[field] !== claimed[field];
  if (told("part")) return by("way", `it is known by ${known.part}, and is now heard by ${claimed.part}`);
  if (known.kind !== claimed.kind && (claimed.part === undefined || known.part !== claimed.part))
    return by(
      "kind",
      `it is known among the ${known.kind}, and now says that it is one of the ${claimed.kind as Kind}`,
    );
  if (told("model")) return by("model", `its model is ${known.model}, and now it says ${claimed.model}`);
  if (told("subtype"))
    return by(
      "subtype",
      `it is known as a ${known.subtype} sensor, and now says that it is a ${claimed.subtype} sensor`,
    );
  const key = keyDifference(known, claim, opened_ms);
  if (key !== undefined) return by("key", key);
  if (known.counter !== undefined && claimed.counter !== undefined && claimed.counter < known.counter)
    return by(
      "counter",
      `its counter went back from ${known.counter} to ${claimed.counter}: its battery was changed, or somebody repeats what it said before`,
    );
  return undefined;
}

function keyDifference(
  known: Identity,
  { key, proven = false }: IdentityClaim,
  opened_ms: number,
): string | undefined {
  if (key === undefined || proven || key?.fingerprint === known.key?.fingerprint) return undefined;
  if (key === null) return `it has a key (${known.key?.made}), and now comes without one`;
  if (known.key !== undefined)
    return `it has a key (${known.key.made}), and now comes with another (${key.made})`;
  if (key.configured === true || known.since_ms >= opened_ms) return undefined;
  return `it is known without a key, and now comes with one (${key.made})`;
}

function textOf({ since_ms: _, counter, accepted_ms: __, accepted_by: ___, ...rest }: Identity): string {
  return JSON.stringify(Object.entries({ ...rest, counts: counter !== undefined }).sort());
}

function cut(text: string): string {
  return text.length > 200 ? text.slice(0, 200) : text;
}

/** Identities that a gateway keeps: more devices than any home has. */
export const identities_max = 4_000;
/** Conflicts that a gateway keeps at once; what is beyond them is refused as well, and only counted. */
export const conflicts_max = 64;
