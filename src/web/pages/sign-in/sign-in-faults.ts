/** Why somebody is not signed in, in words. */
export const faultTexts = {
  invalid: "This is no token that holds here: it was mistyped, revoked, or made for another server.",
  expired: "This token has expired. Whoever gave it to you can make another one.",
  scope: "This token is for uploads. Pages are shown to tokens that may read, or administer.",
  ended: "You have been signed out: the token that you signed in with was revoked.",
} as const;

export type SignInFault = keyof typeof faultTexts;

export const signInFaults = Object.keys(faultTexts) as SignInFault[];

/** Shown at the way in. */
export interface SignIn {
  readonly fault?: SignInFault | undefined;
  /** The path of this server that one goes on to. */
  readonly next: string;
}
