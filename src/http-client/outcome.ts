import { OperatorError } from "../errors.ts";

/** A run could not end well now, and nobody has to do anything for it to go better later. */
export class TryAgainLater extends OperatorError {}

/** The outcome of one request: an answer, or a failure that may go away by itself. One that will not is thrown. */
export type Outcome = Answered | Failed;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface Failed {
  readonly failure: string;
  /** For how long the server asked to wait, milliseconds. */
  readonly retry_ms?: number;
  /** The status that it answered, where it did: 429 is a queue, and waiting in it no failure. */
  readonly answered?: number;
}
