import { OperatorError } from "../../base/errors.ts";
import { faultOf, type KnownFault } from "../database.ts";

/** Host, port and name of the database that a URL tells, for messages. @throws OperatorError where it is no such URL */
export function urlName(url: string): string {
  const parsed = URL.parse(url);
  const name = decodeURIComponent(parsed?.pathname.slice(1) ?? "") || parsed?.username;
  if (!parsed || !name || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new OperatorError(
      "that is not the URL of a PostgreSQL database",
      "write it as postgres://user:password@host:5432/database",
    );
  }
  const host = parsed.host === "" ? "localhost" : parsed.host;
  return `database ${name} on ${host}`;
}

/** The OperatorError for an error thrown while working on a database. An OperatorError passes unchanged. */
export function databaseFault(thrown: unknown, name: string): OperatorError {
  const worker = workerOf(thrown);
  if (worker === undefined) return faultOf(thrown, { name, code: codeOf(thrown), faults });
  const of = { name: `worker ${worker} of ${name}`, code: codeOf(thrown) };
  return faultOf(thrown, { ...of, faults: isWorkerLost(thrown) ? [workerAway] : faults });
}

/** An error that was met at a worker itself: `workerOf` answers it. */
export function metAt(worker: string, thrown: unknown): unknown {
  return thrown instanceof Error ? Object.assign(thrown, { worker }) : thrown;
}

/** Host and port of the worker at which a statement failed, which was asked itself or where a coordinator of Citus says so: `10.0.0.2:5432`. */
export function workerOf(thrown: unknown): string | undefined {
  const { message, where, notice, worker } = toldBy(thrown);
  if (worker !== "") return worker;
  const named = workerLost.exec(message) ?? workerLost.exec(notice) ?? atWorker.exec(where);
  return named?.groups?.["worker"];
}

/** SQLSTATE of an error of PostgreSQL, or the code of one of the connection. */
export function codeOf(thrown: unknown): string {
  if (isServerDead(thrown)) return "57P02";
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}

/** Whether a transaction that may only read was to change something. */
export function isReadOnly(thrown: unknown): boolean {
  return codeOf(thrown) === "25006";
}

/** True when a query failed because of the connection, and not of the database. One that a coordinator has lost to a worker is not ours. */
export function isConnectionLost(thrown: unknown): boolean {
  return lost.test(codeOf(thrown)) && (toldBy(thrown).severity !== "ERROR" || isServerDead(thrown));
}

/** A coordinator that finds its own server gone while it waits for a worker says so in an ordinary error, without a code of its own. */
function isServerDead(thrown: unknown): boolean {
  return toldBy(thrown).message === "postmaster was shut down, exiting";
}

const lost = /^(CONNECTION_|ECONNRESET|EPIPE|08|57P0)/;

/** Whether the worker itself was lost, and did not merely refuse a statement. */
function isWorkerLost(thrown: unknown): boolean {
  const { message, notice } = toldBy(thrown);
  if (workerLost.test(message) || workerLost.test(notice) || lost.test(codeOf(thrown))) return true;
  return codeOf(thrown) === "XX000" && connectionEnded.test(message);
}

/** Words of an error beside its code; `notice` is what the server had said of it before. */
function toldBy(thrown: unknown): ToldByServer {
  if (!(thrown instanceof Error)) return silent;
  return { ...silent, ...thrown, message: thrown.message };
}

interface ToldByServer {
  readonly message: string;
  readonly where: string;
  readonly notice: string;
  readonly severity: string;
  readonly worker: string;
}
const silent: ToldByServer = { message: "", where: "", notice: "", severity: "", worker: "" };

/** Messages of Citus, which it does not translate. */
const workerLost =
  /^(?:connection to the remote node (?:.*@)?|could not establish any connections to the node |failed to COPY to shard \d+ on |failed to commit transaction on )(?<worker>[^@\s]+:\d+)\b/;
const atWorker = /^while executing command on (?<worker>\S+:\d+)$/m;
/** Words of libpq at a coordinator, which have no code, of a connection to a worker that has ended. */
const connectionEnded =
  /SYSCALL error|closed the connection|connection has been closed|connection not open|invalid socket/;
/** Whatever code a lost worker is told with. */
export const workerAway = {
  codes: /^/,
  what: "is away",
  remedy:
    "start PostgreSQL there again, or look into its log for why it does not answer; the homes on it are refused until then, and all others go on",
  outage: "unreachable",
} as const satisfies KnownFault;

/** SQLSTATEs are listed in appendix A of the manual of PostgreSQL. */
const faults: readonly KnownFault[] = [
  {
    codes:
      /^(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ENOENT|EAI_AGAIN|CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket)$/,
    what: "cannot be reached",
    remedy: "check the host and port in its URL, and that PostgreSQL runs there and listens",
    outage: "unreachable",
  },
  {
    codes: lost,
    what: "went away",
    remedy: "it is connected to again by itself; look into the log of PostgreSQL for why",
    outage: "unreachable",
  },
  {
    codes: /^28/,
    what: "refuses the user or the password",
    remedy: "check both in the URL, and pg_hba.conf of the server",
  },
  {
    codes: /^3D000$/,
    what: "does not exist",
    remedy: "make it with `createdb`, or name another in the URL",
  },
  {
    codes: /^42501$/,
    what: "does not let this user make or change what it must",
    remedy: "make the user the owner of the database (`ALTER DATABASE … OWNER TO …`)",
  },
  {
    codes: /^42P0[67]$/,
    what: "holds tables of another program",
    remedy: "name a database that is empty in the URL",
  },
  {
    codes: /^(BLOCK_DAMAGED|XX00[12])$/,
    what: "is damaged",
    remedy:
      "look into the log of PostgreSQL and at `dmesg` for errors of its disk, and restore the database from a backup; homes send again what that has not",
  },
  {
    codes: /^25006$/,
    what: "can only be read: it is a standby or set to be",
    remedy: "name the primary server in the URL",
  },
  {
    codes: /^53[12]00$/,
    what: "cannot grow: disk or memory of the server is full",
    remedy: "free some; writing goes on by itself",
    outage: "disk_full",
  },
  {
    codes: /^53300$/,
    what: "has no connection left",
    remedy: "end other programs on it, or raise max_connections of the server",
    outage: "unreachable",
  },
  {
    codes: /^(55P03|57014|40001|40P01|25P03)$/,
    what: "is held by another program that does not finish",
    remedy: "end what works on it for so long (an import, a backup, a psql); writing goes on by itself",
    outage: "unreachable",
  },
  {
    codes: /^58030$/,
    what: "cannot be read or written: the disk of the server reports an error",
    remedy: "check the disk of the server and the log of PostgreSQL",
    outage: "disk_failing",
  },
  {
    codes: /^XX00[12]$/,
    what: "cannot be read: the server reports damage",
    remedy: "check the disk of the server and the log of PostgreSQL",
  },
];
