import { OperatorError } from "../../base/errors.ts";
import type { RemoteOutcome, SignedRequest } from "../../domain/remote-request.ts";
import { arrays, change, hold, objects, rowsOf, type Work } from "../database.ts";
import type { RemoteAnswer, RemoteAsk, RemoteAsked, RemoteChoice } from "./central-store.ts";

/** See `CentralStore.askRemote`. */
export function* askRemote({ request, asked_by, asked_ms }: RemoteAsk): Work<void> {
  const { home, number, expires_ms } = request;
  yield* hold({ home });
  const known = yield* numbersOf(home);
  if (known.some((one) => one >= number))
    throw new OperatorError(
      `home ${home} was asked for this or something later already`,
      "sign the request anew: each has a number above those before it",
    );
  yield* change(
    "INSERT INTO remote_requests (home, number, request, asked_by, asked_ms, expires_ms) VALUES ($1, $2, $3, $4, $5, $6)",
    ...[home, number, JSON.stringify(request), asked_by, asked_ms, expires_ms],
  );
  const oldest = known[kept_max - 2];
  if (oldest !== undefined)
    yield* change("DELETE FROM remote_requests WHERE home = $1 AND number < $2", home, oldest);
}

/** See `CentralStore.noteRemote`. */
export function* noteRemote(home: number, number: number, answered: RemoteAnswer): Work<boolean> {
  yield* hold({ home });
  const { answered_ms, outcome, words, answer = null } = answered;
  const changed = yield* change(
    `UPDATE remote_requests SET answered_ms = $3, outcome = $4, words = $5, answer = $6
     WHERE home = $1 AND number = $2 AND answered_ms IS NULL`,
    ...[home, number, answered_ms, outcome, words, answer],
  );
  const later = (yield* numbersOf(home))[answers_kept_max];
  if (later !== undefined)
    yield* change(
      "UPDATE remote_requests SET answer = NULL WHERE home = $1 AND number <= $2 AND answer IS NOT NULL",
      ...[home, later],
    );
  return changed > 0;
}

/** See `CentralStore.remoteAsked`. */
export function* remoteAsked(choice: RemoteChoice): Work<RemoteAsked[]> {
  const columns = "request, asked_by, asked_ms, answered_ms, outcome, words, answer";
  const rows = yield* rowsOf(
    "home" in choice
      ? objects<AskedRow>(
          `SELECT ${columns} FROM remote_requests WHERE home = $1 ORDER BY number DESC`,
          choice.home,
        )
      : objects<AskedRow>(
          `SELECT ${columns} FROM remote_requests WHERE answered_ms IS NULL AND expires_ms > $1 ORDER BY home, number`,
          choice.waiting_at_ms,
        ),
  );
  return rows.map(({ request, asked_by, asked_ms, answered_ms, outcome, words, answer }) => ({
    ...{ request: JSON.parse(request) as SignedRequest, asked_by, asked_ms },
    ...(answered_ms !== null &&
      outcome !== null && {
        answered: { answered_ms, outcome, words: words ?? "", answer: answer ?? undefined },
      }),
  }));
}

/** Numbers of the requests of a home, the highest first. */
function* numbersOf(home: number): Work<number[]> {
  const rows = yield* rowsOf(
    arrays<[number]>("SELECT number FROM remote_requests WHERE home = $1 ORDER BY number DESC", home),
  );
  return rows.map(([number]) => number);
}

interface AskedRow {
  readonly request: string;
  readonly asked_by: string;
  readonly asked_ms: number;
  readonly answered_ms: number | null;
  readonly outcome: RemoteOutcome | null;
  readonly words: string | null;
  readonly answer: string | null;
}

/** Requests of a home that are kept, and those of them with what the box sent. */
const kept_max = 100;
const answers_kept_max = 5;
