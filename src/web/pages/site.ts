import { RecentlyUsed } from "../../base/recently-used.ts";
import type { TimeSpan } from "../../base/time.ts";
import type { RetentionSettings } from "../../config/retention-settings.ts";
import type { AcceptancesOf, FinishedVisit, VisitFindings } from "../../domain/acceptance.ts";
import type { SignedBurnIn } from "../../domain/burn-in.ts";
import type { WalkingLine } from "../../domain/derived/walking-passes.ts";
import type { FleetHome, NeedDuty } from "../../domain/fleet-home.ts";
import type { Conflict } from "../../domain/identity.ts";
import type { SetupVisitState } from "../../domain/joining-state.ts";
import type { MeshScan } from "../../domain/mesh.ts";
import type { Outage, Undelivered } from "../../domain/outage.ts";
import type { RemoteOutcome, RemoteRequestName } from "../../domain/remote-request.ts";
import type { SqlAnswer, SqlTable } from "../../domain/sql-answer.ts";
import type { CentralStore } from "../../store/central/central-store.ts";
import type { Store, Token } from "../../store/store.ts";
import type { VisibleStore } from "../../store/visible-store.ts";
import type { CostName } from "../server/request-costs.ts";

/** Data sources of pages: the store, and facts that no store has. */
export interface Site {
  readonly role: "gateway" | "central";
  readonly store: Store;
  readonly version: string;
  /** At a gateway its home, by number; undefined where nobody has told. */
  readonly home?: number | undefined;
  /** The path that the newest version of the interface is below: `/v0.9`. */
  readonly api: string;
  /** IANA name of the time zone of a home; at a gateway of its own. */
  zoneOf(home: number | undefined): Promise<string>;
  /** At central all homes together. */
  readonly fleet?: Fleet;
  /** At a central that tells people what homes need. */
  readonly alerts?: AlertDesk;
  /** At a central that keeps a mirror. */
  readonly sql?: SqlSource;
  /** Where the readings of a home go; absent: they stay here. */
  keepingOf?(home: number | undefined): Promise<Keeping>;
  /** Faults of the box itself or of its way to central that somebody should mend, worst first; absent: none is known. */
  troublesOf?(home: number | undefined): Promise<readonly Trouble[]>;
  /** Stretches of time in which the clock was wrong by an unknown amount, in order; absent: none is known. */
  doubtsOf?(home: number | undefined): Promise<readonly TimeSpan[]>;
  /** Requests of the study to the box of a home, from afar; undefined, or absent: it cannot ask for anything. */
  remoteOf?(home: number | undefined): Promise<RemoteHistory | undefined>;
  /** Scans of the mesh of its Zigbee devices, newest first; absent: there are none. */
  meshOf?(home: number | undefined): Promise<readonly MeshScan[]>;
  /** The record of the burn-in of its box; absent: there is none. */
  burnInOf?(home: number | undefined): Promise<KeptBurnIn | undefined>;
  /** At a gateway. */
  readonly walk?: SetupVisit;
  /** At a gateway: the visit that proves its installation. */
  readonly acceptance?: AcceptanceVisit;
  /** Signed records of its installation, newest first; absent: there are none. */
  readonly acceptancesOf?: AcceptancesOf;
  /** Absent where the people of the home may not pause by a page. */
  readonly household?: Household;
  /** At a gateway. */
  readonly noting?: {
    /** Whether the people of the home may write notes too. */
    readonly mayNote: boolean;
    /** Numbers of the notes that central has sent: it is the one to change them. */
    ofCentral(): Promise<ReadonlySet<number>>;
  };
  /** Lines of curtain sensors on which walking speed is measured, as the configuration of a home's gateway names them. */
  walkingOf?(home: number | undefined): Promise<readonly WalkingLine[]>;
}

/** A record, and the parts that are others than they were at it, in words. */
export interface KeptBurnIn {
  readonly record: SignedBurnIn;
  readonly changed: readonly string[];
}

/** Setting up a home, with a phone in hand (src/gateway/joining/setup-visit.ts). */
export interface SetupVisit {
  /** Grows with each change of the state. */
  readonly changes: number;
  readonly state: SetupVisitState;
  /** The clock of the box is known to be right. */
  readonly isTimeKnown: boolean;
  /** Devices that claim to be another one, and wait for a person. */
  readonly conflicts: readonly Conflict[];
  open(): void;
  close(): Promise<void>;
  name(address: string, written: { name: string; room: string }): Promise<boolean>;
  measure(address: string, written: string): Promise<boolean>;
  replace(old: string, address: string): Promise<boolean>;
  /** Answers the conflict at an address that began then; any other stays. */
  settle(
    seen: { address: string; first_ms: number },
    answer: "accepted" | "refused",
    by: string,
  ): Promise<void>;
}

/** Proving an installation, device by device (src/gateway/acceptance/acceptances.ts). */
export interface AcceptanceVisit {
  /** Grows with each task, and while a record is made. */
  readonly changes: number;
  /** The record that is being made, or was made last; undefined before. */
  readonly finish: "making" | FinishedVisit | undefined;
  ask(of: string): void;
  found(): Promise<VisitFindings>;
  begin(tester: string): void;
}

/** Pauses that the people of a home may ask for themselves (src/gateway/household-pause.ts). */
export interface Household {
  pause(by: string, for_ms: number): Promise<void>;
  resume(by: string): Promise<void>;
}

/** SQL over the mirror of central (src/export/mirror/sql-desk.ts). */
export interface SqlSource {
  readonly tables: readonly SqlTable[];
  /** Why no query is answered here; undefined where they are. */
  off(): Promise<string | undefined>;
  /** Answers a query of whoever has this token, over what the store has. */
  ask(of: {
    readonly query: string;
    readonly token: string;
    readonly store: VisibleStore;
    readonly rows_max: number;
    readonly stop: AbortSignal;
  }): Promise<SqlAnswer>;
}

/** Alerts of central, and those who hear of them (src/central/alerts/alert-notices.ts). */
export interface AlertDesk {
  readonly open: readonly Outage[];
  readonly recipients: readonly HeardBy[];
  /** The newest last. */
  readonly undelivered: readonly Undelivered[];
  /** Notes who deals with open alerts. @throws Error where that cannot be kept */
  acknowledge(ids: readonly number[], by: string): void;
  /** Sends a test to every recipient, once a minute at most. Resolves at the end, or after some seconds. */
  test(): Promise<void>;
}

/** A recipient of alerts, and what waits for it. */
export interface HeardBy {
  readonly to: string;
  readonly duties: readonly NeedDuty[];
  /** Made then, and not taken yet; `failure`: why the last try failed. */
  readonly waiting: { readonly made_ms: number; readonly failure: string | null } | null;
  /** The last test, and how it ended; under way without an outcome. */
  readonly test: { readonly at_ms: number; readonly outcome?: string } | null;
}

/** Requests of the study to a box, the newest first. */
export interface RemoteHistory {
  /** Requests that the box does; absent: the box knows, and this server does not. */
  readonly allow?: readonly RemoteRequestName[];
  readonly asked: readonly {
    readonly at_ms: number;
    readonly request: string;
    /** Absent: it has not been done, or not yet. */
    readonly outcome?: RemoteOutcome | undefined;
  }[];
}

/** Where readings go, and how long they stay. */
export interface Keeping {
  /** A server that a gateway sends them to, each night at a time of day, as `02:00`; without one, now and then. */
  readonly upload?: { readonly url: string; readonly at?: string | undefined } | undefined;
  /** When they were last sent on from a gateway, or last came to central, unix milliseconds. */
  readonly uploaded_ms?: number | undefined;
  /** Days of readings that stay on a gateway; absent: all. */
  readonly keep_days?: number | undefined;
  /** At central: when it stops to be shown, or to be there; absent: when somebody erases it. */
  readonly retention?: RetentionSettings | undefined;
}

/** A fault, and what to do about it: a sentence each, or the remedy within the first. */
export interface Trouble {
  readonly what: string;
  readonly remedy?: string;
  /** While it lasts nothing that is heard has a date: a device may have been heard, and nothing be known of it. */
  readonly undated?: boolean;
}

/** A memory for each site, made when it is first asked for; its entries weigh at most so much together. */
export function memoryBySite<Value>(weight_max: number): (site: Site) => RecentlyUsed<Value> {
  const memories = new WeakMap<Site, RecentlyUsed<Value>>();
  return (site) => {
    const memory = memories.get(site) ?? new RecentlyUsed({ weight_max });
    memories.set(site, memory);
    return memory;
  };
}

/** A request for a page by somebody who is signed in. */
export interface Asked {
  readonly site: Site;
  /** The store, cut to what the token may see. */
  readonly store: VisibleStore;
  readonly token: Token;
  /** Where the browser found this server: `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** Values in the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The language that dates and numbers are written in, a BCP 47 tag. */
  readonly locale: string;
  readonly now_ms: number;
  /** Aborted when whoever asks goes away. */
  readonly signal: AbortSignal;
  /** Whether the clock that says so is known to be right. */
  readonly isTimeKnown: boolean;
}

/** Whoever asks, as logs and records name him. */
export function askerName({ token: { name, id } }: Asked): string {
  return `${name.slice(0, 100)} (token ${id})`;
}

/**
 * Finds what a page shows. The data is plain JSON: it stands in the document beside the markup that its component makes of it, and comes again by itself
 * where the page is live.
 *
 * @throws HttpError where there is no such thing, or the token may not see it
 */
export type Show<Data> = (asked: Asked) => Promise<ShownPage<Data>>;

export interface ShownPage<Data> {
  /** For the browser's tab and its history. */
  readonly title: string;
  /** Addresses of what its script asks for at once: browsers are told of them before there is a script. */
  readonly plots?: readonly string[];
  /** The drawings on it (`parts/plots-and-tones.ts`): browsers are told of the scripts that make them, too. */
  readonly drawings?: readonly ("raster" | "spiral" | "curve")[];
  readonly data: Data & FrameData;
}

/** The data of the frame around every page. */
export interface FrameData {
  readonly locale: string;
  /** When the data was found, unix milliseconds. */
  readonly now_ms: number;
  /** Where the reader is, the outermost first: links to the pages above this one. */
  readonly trail: readonly { readonly href: string; readonly text: string }[];
}

/** All homes of a central, and what has arrived of them. `homes` names those whose data is asked for: whoever asks leaves out what the token may not see. */
export interface Fleet extends Pick<CentralStore, "dailyArrivals" | "coverageIn" | "firmware"> {
  /** State of each home that has ever sent anything, in order of number; of all where none are named. It may be some seconds old. */
  homes(of: readonly number[] | undefined): Promise<readonly FleetHome[]>;
}

/** The gateway of a home as central knows it: null where it has sent nothing yet; undefined at the gateway itself, and of no home. */
export type SentBy = FleetHome | null | undefined;

export async function sentBy(
  { fleet }: { readonly fleet?: Fleet },
  home: number | undefined,
): Promise<SentBy> {
  if (fleet === undefined || home === undefined) return undefined;
  return (await fleet.homes([home]))[0] ?? null;
}

/**
 * Every page for who is signed in: where each role has it, in Elysia's form, and whether its data is sent again when something has changed. The pages themselves are
 * loaded when one is asked for (`page-document.tsx`).
 */
export const paths = {
  homes: { central: "/", cost: "heavy", live: false },
  home: { gateway: "/", central: "/homes/:home", cost: "heavy", live: true },
  device: { gateway: "/devices/:kind/:name", central: "/devices/:kind/:name", cost: "heavy", live: true },
  "setup-visit": { gateway: "/walk", cost: "light", live: true },
  "home-day": { gateway: "/day", central: "/homes/:home/day", cost: "heavy", live: false },
  mesh: { gateway: "/mesh", central: "/homes/:home/mesh", cost: "light", live: false },
  recorded: { gateway: "/recorded", central: "/homes/:home/recorded", cost: "light", live: true },
  find: { gateway: "/find", central: "/find", cost: "heavy", live: false },
  alerts: { central: "/alerts", cost: "light", live: false },
  sql: { central: "/sql", cost: "heavy", live: false },
  acceptance: { gateway: "/acceptance", central: "/homes/:home/acceptance", cost: "light", live: false },
  "burn-in": { gateway: "/burn-in", central: "/homes/:home/burn-in", cost: "light", live: false },
} as const satisfies Record<string, PagePaths>;

export type PageName = keyof typeof paths;

/** The pages whose data is sent again: the browser must have their components. */
export type LivePageName = {
  [Name in PageName]: (typeof paths)[Name]["live"] extends true ? Name : never;
}[PageName];

type PagePaths = { readonly [Role in Site["role"]]?: string } & {
  readonly cost: CostName;
  readonly live: boolean;
};

/** The pages of a role, and where they are there. */
export function pathsOf(
  role: Site["role"],
): { name: PageName; path: string; cost: CostName; live: boolean }[] {
  const all = Object.entries(paths) as [PageName, PagePaths][];
  return all.flatMap(([name, { [role]: path, cost, live }]) =>
    path === undefined ? [] : [{ name, path, cost, live }],
  );
}

/** The way from the first page to the page of a home; at central to all homes where it is not known which. */
export function trailTo(role: Site["role"], home: number | undefined): FrameData["trail"] {
  if (role === "gateway") return [{ href: "/", text: home === undefined ? "Home" : `Home ${home}` }];
  const all = { href: "/", text: "All homes" };
  return home === undefined ? [all] : [all, { href: `/homes/${home}`, text: `Home ${home}` }];
}
