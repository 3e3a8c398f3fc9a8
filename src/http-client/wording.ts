/** Names of a server, and of the settings of this side, in messages for operators. */
export interface Wording {
  /** The server: `central`. */
  readonly name: string;
  /** The program that answers there, if the address is right: `a Lintel central server`. */
  readonly kind: string;
  /** The client: `this gateway`. */
  readonly asker: string;
  /** The run that asks: `upload`. */
  readonly run: string;
  /** A way to make a run shorter, where a run is bounded. */
  readonly hastening?: string;
  /** The setting of the address: `[upload] url`. */
  readonly url_setting: string;
  /** How its certificate is named: `in [upload] certificate = "…"`. */
  readonly certificate_setting: string;
  /** An address as it should be: `https://central.example`. */
  readonly url_example: string;
  /** The remedy for a token that is refused. */
  readonly token_remedy: string;
}
