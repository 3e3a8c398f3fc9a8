/** Something that happened in a home, and what became of it. `serial` is the event that its reading has. */
export interface Happening {
  readonly serial: number;
  readonly at_ms: number;
  /** Of its device, in its normal form. */
  readonly address: string;
  /** It is an event of the pill box. */
  readonly boxed: boolean;
  /** The gateway has said that it is on disk. */
  acknowledged: boolean;
  /** Why it need not be found: it was overwritten in its device, or lost with a card. */
  excused?: string;
}
