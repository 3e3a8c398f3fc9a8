/** Reasons for which somebody is not signed in, in words. */
export const faultTexts = {
  invalid: "This token is not valid here: it was mistyped, revoked, or made for another server.",
  expired: "This token has expired. Ask the person who gave it to you for another one.",
  scope: "This token is for uploads. To see pages, use a token of scope read or admin.",
  ended: "You have been signed out, because somebody revoked your token.",
} as const;

export type SignInFault = keyof typeof faultTexts;

export const signInFaults = Object.keys(faultTexts) as SignInFault[];

/** Data of the sign-in page. */
export interface SignIn {
  readonly fault?: SignInFault | undefined;
  /** Path of this server that opens after signing in. */
  readonly next: string;
}
