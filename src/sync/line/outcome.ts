import { OperatorError } from "../../errors.ts";

/** An upload could not end well now, and nobody has to do anything for it to go better later. */
export class TryAgainLater extends OperatorError {}

/** What happens to one request: an answer, a failure that may go away by itself, or one that will not. */
export type Outcome = Answered | Failed;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface Failed {
  readonly failure: string;
  /** What the other side asked to wait, milliseconds. */
  readonly retry_ms?: number;
  /** What it answered, where it did: 429 is a queue, and waiting in it no failure. */
  readonly answered?: number;
}
