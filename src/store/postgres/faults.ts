import { OperatorError } from "../../errors.ts";
import { faultOf, type KnownFault } from "../fault-table.ts";

/** Host, port and name of the database that a URL tells, for messages. @throws OperatorError where it is no such URL */
export function nameOf(url: string): string {
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
  return faultOf(thrown, { name, code: codeOf(thrown), faults });
}

/** SQLSTATE of an error of PostgreSQL, or the code of one of the connection. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}

/** True when a query failed because of the connection, and not of the database. */
export function isConnectionLost(thrown: unknown): boolean {
  return lost.test(codeOf(thrown));
}

const lost = /^(CONNECTION_|ECONNRESET|EPIPE|08|57P0)/;

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
    codes: /^(58030|XX00[12])$/,
    what: "cannot be read or written: the server reports damage or a failing disk",
    remedy: "check the disk of the server and the log of PostgreSQL",
  },
];
