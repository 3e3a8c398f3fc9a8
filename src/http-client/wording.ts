/** How a server, and what to correct on this side, is called in messages for operators. */
export interface Wording {
  /** Who is asked: `central`. */
  readonly name: string;
  /** The program that answers there, if the address is right: `a Lintel central server`. */
  readonly kind: string;
  /** Who asks: `this gateway`. */
  readonly asker: string;
  /** The run that asks: `upload`. */
  readonly run: string;
  /** A way to make a run shorter, where a run is bounded. */
  readonly hastening?: string;
  /** Where the address stands: `[upload] url`. */
  readonly url_setting: string;
  /** How its certificate is named: `in [upload] certificate = "…"`. */
  readonly certificate_setting: string;
  /** An address as it should be: `https://central.example`. */
  readonly url_example: string;
  /** The remedy for a token that is refused. */
  readonly token_remedy: string;
}
