import { OperatorError } from "../errors.ts";

/** A run failed for now; a later one may succeed without any action. */
export class TryAgainLater extends OperatorError {}

/** A server has a certificate that no authority vouches for. One who knows it to be the server's can name it, and it is trusted. */
export class UntrustedCertificate extends OperatorError {}

/** The outcome of one request: an answer, or a failure that may pass without action. Other failures are thrown. */
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
  /** The status that it answered, where it did: 429 is a queue, and waiting in it no failure; nor is 503 that says when to come back. */
  readonly answered?: number;
}
