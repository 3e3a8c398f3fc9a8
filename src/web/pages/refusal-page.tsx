import { capital } from "../../base/words.ts";
import { CommandText } from "./parts/command-text.tsx";

/** The page of an error: its reason, and its remedy. */
export function RefusalPage({ status, message, retry_s, busy = false, form = false, instead }: RefusalData) {
  const { title, words } = refusalWords({ status, message, busy });
  return (
    <main class="refusal">
      <h1>{title}</h1>
      {words === null ? null : (
        <p>
          <CommandText>{words}</CommandText>
        </p>
      )}
      {status === 422 && form ? <p>Go back to the form, and correct it.</p> : null}
      {status === 422 && !form ? (
        <p>
          Correct the address, or <a href="?">open the page without it</a>.
        </p>
      ) : null}
      {/* The message of a refusal has its remedy. */}
      {status === 403 || status === 422 ? null : (
        <p>{busy ? `This page tries again by itself in ${waitText(retry_s)}.` : remedyOf(status, retry_s)}</p>
      )}
      <p>
        {instead === undefined ? (
          <a href="/">To the first page</a>
        ) : (
          <a href={instead.href}>{instead.text}</a>
        )}
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
  /** A page that may be opened where not even the first one may. */
  readonly instead?: { readonly href: string; readonly text: string } | undefined;
  /** A form was sent. */
  readonly form?: boolean;
}

/** The first line, and what else the error says: of a refusal that names its reason and its remedy, these. */
export function refusalWords(of: Pick<RefusalData, "status" | "message" | "busy">): {
  readonly title: string;
  readonly words: string | null;
} {
  const { status, message, busy = false } = of;
  if (status === 403 || status === 422) {
    const [reason = "", ...remedy] = message.split(": ");
    return {
      title: `${capital(reason)}.`,
      words: remedy.length === 0 ? null : `${capital(remedy.join(": "))}.`,
    };
  }
  // Of what is not there the error says no more, in words of the interface.
  if (status === 404) return { title: "There is nothing here", words: null };
  // The remedy says when to try again.
  const words = `${message.replace(/: try again in \d+ s$/, "")}.`;
  if (busy) return { title: "Busy", words };
  if (status === 429) return { title: "Too many tries", words };
  return { title: status >= 500 ? "This cannot be shown now" : "This cannot be done", words };
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
