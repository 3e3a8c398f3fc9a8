/** The page of an error: its reason, and its remedy. */
export function RefusalPage({ status, message, retry_s, busy = false }: RefusalData) {
  return (
    <main class="refusal">
      <h1>{refusalTitle(status, busy)}</h1>
      {/* Of what is not there the error says no more, in words of the interface; the remedy says when to try again. */}
      {status === 404 ? null : <p>{message.replace(/: try again in \d+ s$/, "")}.</p>}
      {status === 422 ? (
        <p>
          Correct the address, or <a href="?">open the page without it</a>.
        </p>
      ) : null}
      {/* The message of a refusal has its remedy. */}
      {status === 403 || status === 422 ? null : (
        <p>{busy ? `This page tries again by itself in ${waitText(retry_s)}.` : remedyOf(status, retry_s)}</p>
      )}
      <p>
        <a href="/">To the first page</a>
      </p>
    </main>
  );
}

interface RefusalData {
  readonly status: number;
  /** The words of the error, without a stop at its end. */
  readonly message: string;
  /** Seconds after which the browser may try again. */
  readonly retry_s?: number;
  /** The server has too many requests. */
  readonly busy?: boolean;
}

export function refusalTitle(status: number, busy = false): string {
  if (busy) return "Busy";
  if (status === 404) return "There is nothing here";
  if (status === 429) return "Too many tries";
  return status >= 500 ? "This cannot be shown now" : "This cannot be done";
}

function remedyOf(status: number, retry_s: number | undefined): string {
  if (status === 404)
    return "The address may be mistyped, the device or home that it names may be gone or have another name, or your token may not see it.";
  if (status === 429) return `Wait ${waitText(retry_s)}, and check the token: a right one works at any time.`;
  if (retry_s !== undefined) return `Wait ${waitText(retry_s)}, then load this page again.`;
  if (status >= 500)
    return "Load this page again. If that does not help, tell the person who looks after this box: its log says what went wrong.";
  return "Go back, load the page that you came from, and try once more.";
}

function waitText(seconds: number | undefined): string {
  if (seconds === undefined) return "a minute";
  return seconds === 1 ? "a second" : `${seconds} seconds`;
}
