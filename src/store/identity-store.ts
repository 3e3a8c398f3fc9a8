import type { Conflict, Identity } from "../identity.ts";

/** The identities of a gateway's devices, and who claims to be one of them: see src/identity.ts. */
export interface IdentityStore {
  identities(): Promise<IdentityNotes>;
  /** Puts the claimed device of a conflict in the place of the known one, or keeps the conflict as refused, by this person. */
  settleConflict(settling: Settling): Promise<void>;
}

/** Rows to keep, each in the place of the one before it. */
export interface IdentityNotes {
  readonly identities: readonly Identity[];
  readonly conflicts: readonly Conflict[];
}

export interface Settling {
  readonly conflict: Conflict;
  readonly answer: "accepted" | "refused";
  readonly at_ms: number;
  /** Who said so. */
  readonly by: string;
}
