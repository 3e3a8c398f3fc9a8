/** How the other end of a line, and what to correct on this one, is called in what operators read. */
export interface PeerWords {
  /** Who is asked: `central`. */
  readonly name: string;
  /** What answers there, if the address is right: `a Lintel central server`. */
  readonly kind: string;
  /** Who asks: `this gateway`. */
  readonly asker: string;
  /** What is under way: `upload`. */
  readonly run: string;
  /** What makes a run shorter that has taken too long. */
  readonly hastening: string;
  /** Where the address stands, and the certificate: `[upload] url`. */
  readonly url_setting: string;
  readonly certificate_setting: string;
  /** An address as it should be: `https://central.example`. */
  readonly url_example: string;
  /** What to do about a token that is refused. */
  readonly token_remedy: string;
}
