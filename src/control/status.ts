import type { DriverStatus } from "../../drivers/driver.ts";
import type { Conflict } from "../identity.ts";
import type { MachineHealth } from "../machine-health.ts";
import type { Stranger } from "../reading.ts";
import type { Overview } from "../store/store.ts";
import type { OpenJoining } from "../walk-state.ts";

/** Status of a running gateway: the answer to `lintel status`. Times are unix milliseconds. */
export interface GatewayStatus {
  readonly version: string;
  readonly pid: number;
  readonly url: string;
  /** The address that it listens on, such as `0.0.0.0` for every one of the machine. */
  readonly listen: string;
  /** The certificate that TLS is served with; absent: plain HTTP. */
  readonly tls?: { readonly certificate: string; readonly fingerprint: string };
  /** Faults of the configuration that did not prevent the start, one line each. */
  readonly warnings: readonly string[];
  readonly started_ms: number;
  readonly now_ms: number;
  /** Resident memory of the process. */
  readonly memory_bytes: number;
  readonly disk_free_bytes: number;
  readonly machine: MachineHealth;
  /** Whether the system clock is known to be right. */
  readonly clock_synchronised: boolean;
  /** Why the clock is not believed although it was set. */
  readonly clock_doubt?: { readonly what: string; readonly remedy: string } | undefined;
  readonly joining: boolean;
  /** While it is open. */
  readonly opened?: OpenJoining;
  /** Work of drivers that should not be cut off now, in words. */
  readonly busy: readonly string[];
  /** Connections closed since the start because there were too many at once. */
  readonly connections_closed: number;
  /** Requests refused since the start because too much was under way, of their caller or of all. */
  readonly requests_refused: number;
  readonly drivers: readonly ({ readonly name: string } & DriverStatus)[];
  readonly ingest: IngestFigures;
  /** Devices that were heard and are not listened to, the one heard last first. */
  readonly strangers: readonly Stranger[];
  /** Devices that claim to be another one, open conflicts first. */
  readonly conflicts: readonly Conflict[];
  readonly store: Overview;
}

/** Figures of ingest; those named here are always present. */
export type IngestFigures = Readonly<Record<string, unknown>> &
  Readonly<Record<"queued" | "committed" | "refused" | "waiting", number>>;
