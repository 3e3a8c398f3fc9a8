/** Who let devices in, since when and until when they are, unix milliseconds. */
export interface OpenJoining {
  readonly by: "page" | "command" | "button";
  readonly since_ms: number;
  readonly until_ms: number;
}

/** The state of letting devices in, for who looks at it on a page. */
export interface SetupVisitState {
  readonly joining: "closed" | "waiting" | "open";
  /** The gateway has a radio that can let devices in. */
  readonly canJoin: boolean;
  /** Null while none is let in. */
  readonly opened: OpenJoining | null;
  /** Addresses of those that have begun to join, and are not in yet. */
  readonly started: readonly string[];
  readonly failed: readonly { readonly address: string; readonly reason: string; readonly remedy: string }[];
  /** Why joining could not be opened, with the remedy. */
  readonly problem: string | null;
  /** Why a device was not given its last name. */
  readonly unnamed: { readonly address: string; readonly why: string } | null;
}
