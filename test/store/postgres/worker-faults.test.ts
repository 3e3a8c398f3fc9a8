import { describe, expect, test } from "bun:test";
import postgres from "postgres";
import { OperatorError, StoreOutage } from "../../../src/base/errors.ts";
import { databaseFault, isConnectionLost, workerOf } from "../../../src/store/postgres/faults.ts";

/**
 * Errors as a coordinator of Citus 13.2 answered them when the worker at 127.0.0.1:9801 was stopped with `pg_ctl stop -m immediate`, killed with
 * kill -9, started again with much to recover, or stood still. The connection to the coordinator is as good as before.
 */
const refused =
  "connection to the remote node lintel@127.0.0.1:9801 failed with the following error: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?";
const recorded: readonly (Answer & { when: string })[] = [
  { when: "a statement finds it stopped", code: "08006", message: refused },
  {
    when: "a COPY finds it stopped",
    code: "08006",
    message: refused,
    where: 'COPY t, line 1: "1\t1795350598755\tb"',
  },
  {
    when: "it dies during a statement",
    code: "08006",
    message:
      "connection to the remote node lintel@127.0.0.1:9801 failed with the following error: connection not open",
  },
  {
    when: "it recovers",
    code: "08006",
    message:
      "connection to the remote node lintel@127.0.0.1:9801 failed with the following error: FATAL:  the database system is in recovery mode",
  },
  {
    when: "it starts",
    code: "08006",
    message:
      "connection to the remote node lintel@127.0.0.1:9801 failed with the following error: FATAL:  the database system is not yet accepting connections\nDETAIL:  Consistent recovery state has not been yet reached.",
  },
  {
    when: "it has no connection left",
    code: "08006",
    message:
      "connection to the remote node lintel@127.0.0.1:9801 failed with the following error: FATAL:  sorry, too many clients already",
  },
  {
    when: "it stands still",
    code: "08006",
    message: "could not establish any connections to the node 127.0.0.1:9801 after 3000 ms",
  },
  {
    when: "it dies during a COPY",
    code: "58030",
    message: "failed to COPY to shard 102008 on 127.0.0.1:9801",
    detail: "failed to send 20030 bytes ",
    where: 'COPY t, line 54: "1\t1795350598813\tbbb..."',
  },
  {
    when: "it dies while two workers prepare to commit",
    code: "57P01",
    message: "terminating connection due to unexpected postmaster exit",
    where: "while executing command on 127.0.0.1:9801",
  },
  {
    when: "its connection ends while two workers prepare to commit",
    code: "XX000",
    message: "SSL SYSCALL error: EOF detected\ninvalid socket",
    where: "while executing command on 127.0.0.1:9801",
  },
  {
    when: "it dies during the commit, of which a notice beforehand names it",
    code: "XX000",
    message: "could not commit transaction for shard 102008 on at least one active node",
    notice: "failed to commit transaction on 127.0.0.1:9801",
  },
];

describe("a worker that is away is an outage of that worker alone, and the connection to the coordinator is kept", () => {
  test.each(recorded.map(({ when, ...answer }) => [when, answer] as const))("%s", (_when, answer) => {
    const thrown = answered(answer);
    expect(workerOf(thrown)).toBe("127.0.0.1:9801");
    expect(isConnectionLost(thrown)).toBe(false);
    const fault = databaseFault(thrown, "database lintel on 127.0.0.1:9800");
    expect(fault).toBeInstanceOf(StoreOutage);
    expect(fault).toMatchObject({ reason: "unreachable" });
    expect(fault.message).toStartWith("worker 127.0.0.1:9801 of database lintel on 127.0.0.1:9800 ");
    expect(fault.message).not.toContain("nobody foresaw this");
  });
});

test("a worker whose disk is full is an outage of that worker", () => {
  const fault = databaseFault(
    answered({
      code: "53100",
      message: 'could not extend file "base/16384/16512": No space left on device',
      where: "while executing command on 10.0.0.2:5432",
    }),
    "database lintel on coordinator",
  );
  expect(fault).toMatchObject({ reason: "disk_full" });
  expect(fault.message).toStartWith("worker 10.0.0.2:5432 of database lintel on coordinator cannot grow");
});

test("a fault in a statement that a worker refuses is no outage", () => {
  const thrown = answered({
    code: "XX000",
    message: "cache lookup failed for type 0",
    where: "while executing command on 127.0.0.1:9801",
  });
  const fault = databaseFault(thrown, "database lintel on 127.0.0.1:9800");
  expect(fault).toBeInstanceOf(OperatorError);
  expect(fault).not.toBeInstanceOf(StoreOutage);
});

test.each([
  ["57P01", "FATAL", "terminating connection due to administrator command"],
  ["XX000", "ERROR", "postmaster was shut down, exiting"],
])(
  "a server that ends the connection itself (%s) is an outage of the database, and the connection is lost",
  (code, severity, message) => {
    const thrown = answered({ code, severity, message });
    expect(workerOf(thrown)).toBeUndefined();
    expect(isConnectionLost(thrown)).toBe(true);
    expect(databaseFault(thrown, "database lintel on 127.0.0.1:9800").message).toStartWith(
      "database lintel on 127.0.0.1:9800 went away",
    );
  },
);

interface Answer {
  readonly code: string;
  readonly message: string;
  readonly severity?: string;
  readonly detail?: string;
  readonly where?: string;
  readonly notice?: string;
}

/** The error that the library makes of an answer. */
function answered(answer: Answer): Error {
  const PostgresError = postgres.PostgresError as unknown as new (answer: object) => Error;
  return new PostgresError({ severity: "ERROR", ...answer });
}
