import { messageOf, OperatorError, type OutageReason, StoreDamaged, StoreOutage } from "../errors.ts";

/** A known fault of a store, recognised by the code of the database or the system. */
export interface KnownFault {
  readonly codes: RegExp;
  /** The fault, as words that follow the name of the thing, and the remedy. */
  readonly what: string;
  readonly remedy: string;
  /** Present where it passes by itself, or once somebody has made room. */
  readonly outage?: OutageReason;
  /** Where a `StoreDamaged` says it. */
  readonly damaged?: true;
}

/**
 * The OperatorError for an error thrown while working on `name`: the first of `faults` that has its code. An
 * OperatorError passes unchanged.
 */
export function faultOf(
  thrown: unknown,
  { name, code, faults }: { name: string; code: string; faults: readonly KnownFault[] },
): OperatorError {
  if (thrown instanceof OperatorError) return thrown;
  const fault = faults.find(({ codes }) => codes.test(code));
  const what = fault?.what ?? `could not be worked on (${messageOf(thrown)})`;
  const remedy = fault?.remedy ?? unforeseen;
  if (fault?.damaged) return new StoreDamaged(`${name} ${what}`, remedy, { cause: thrown });
  return fault?.outage === undefined
    ? new OperatorError(`${name} ${what}`, remedy, { cause: thrown })
    : new StoreOutage(`${name} ${what}`, remedy, fault.outage, { cause: thrown });
}

const unforeseen = "nobody foresaw this; please report it with the log";
