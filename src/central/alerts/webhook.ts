import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { AlertWebhook } from "../../config/alert-settings.ts";
import { certificateIn } from "../../config/server-access.ts";
import { needRules } from "../../domain/fleet-home.ts";
import { centralItself, type Outage } from "../../domain/outage.ts";
import { requestOnce, type Wording } from "../../web/client/http-request.ts";
import type { NoticeContent } from "./due-notices.ts";

/** A call of a webhook. */
export interface WebhookCall {
  /** The same for each try, so that a receiver that gets it twice can tell. */
  readonly id: string;
  /** JSON. */
  readonly body: string;
}

/** The body of a call, as docs/alerts.md has it. `kind`: `test` tells of nothing. */
export function webhookBody(
  content: Omit<NoticeContent, "kind"> & { readonly kind: NoticeContent["kind"] | "test" },
  { subject, url, now_ms }: { readonly subject: string; readonly url: string; readonly now_ms: number },
): string {
  const { kind, told, over, open } = content;
  const listed = (outages: readonly Outage[]) => outages.slice(0, listed_max).map((one) => alertOf(one, url));
  const left_out = [told, over, open].reduce((sum, { length }) => sum + Math.max(0, length - listed_max), 0);
  return JSON.stringify({
    type: `alerts.${kind}`,
    timestamp: new Date(now_ms).toISOString(),
    data: { subject, told: listed(told), over: listed(over), open: listed(open), left_out },
  });
}

function alertOf({ id, home, need, item, message, since_ms, acknowledged }: Outage, url: string) {
  const isCentral = home === centralItself;
  return {
    ...{ id, home: isCentral ? null : home, need, title: needRules[need].title },
    ...{ item: item ?? null, message },
    since: new Date(since_ms).toISOString(),
    acknowledged_by: acknowledged?.by ?? null,
    link: isCentral ? `${url}/` : `${url}/homes/${home}`,
  };
}

/**
 * Calls a webhook once, signed as Standard Webhooks has it. The address is of the settings alone, and nothing of an answer but its status is
 * looked at: no redirect is followed.
 *
 * @see https://www.standardwebhooks.com
 * @throws Error, in words for a person, where the receiver does not take it
 */
export async function callWebhook(
  { url, secret_file, certificate }: AlertWebhook,
  { id, body }: WebhookCall,
  clock: Clock,
): Promise<void> {
  const time_s = Math.floor(clock.now().unix_ms / 1_000);
  const stop = new AbortController();
  const cancel = clock.after(call_max_ms, () =>
    stop.abort(new Error(`it does not answer within ${call_max_ms / 1_000} s`)),
  );
  try {
    const outcome = await requestOnce(
      {
        ...{ method: "POST", url: new URL(url), body: new TextEncoder().encode(body) },
        headers: {
          "content-type": "application/json",
          "webhook-id": id,
          "webhook-timestamp": `${time_s}`,
          "webhook-signature": signature({ id, time_s, body }, secretIn(secret_file)),
        },
      },
      {
        ...{ clock, stop: stop.signal, wording, certificate: certificate && certificateIn(certificate) },
        ...{ answer_ms_max: call_max_ms, answer_bytes_max },
      },
    );
    if ("failure" in outcome) throw new Error(outcome.failure);
    if (outcome.status < 200 || outcome.status > 299) throw new Error(`it answers ${outcome.status}`);
  } finally {
    cancel();
  }
}

function signature(
  { id, time_s, body }: WebhookCall & { readonly time_s: number },
  secret: Uint8Array,
): string {
  return `v1,${createHmac("sha256", secret).update(`${id}.${time_s}.${body}`).digest("base64")}`;
}

/** @throws OperatorError where the file cannot be read, or holds no secret */
function secretIn(file: string): Uint8Array {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (thrown) {
    throw new OperatorError(`the secret file ${file} cannot be read (${messageOf(thrown)})`, remedy);
  }
  const [, coded] = /^whsec_([A-Za-z0-9+/]{32,86}={0,2})$/.exec(text) ?? [];
  if (coded === undefined) throw new OperatorError(`the secret file ${file} holds no secret`, remedy);
  return Buffer.from(coded, "base64");
}

const remedy =
  'make one with: echo "whsec_$(openssl rand -base64 32)", and give it to the receiver too; the user that central runs as must be able to read it';

const wording: Wording = {
  name: "the receiver",
  kind: "a receiver of webhooks",
  asker: "this central",
  run: "call",
  url_setting: "[[recipient]] webhook",
  certificate_setting: "in [[recipient]] certificate",
  url_example: "https://hooks.example/lintel",
  token_remedy: "check the secret",
};

/** Alerts in each list of a call. */
const listed_max = 1_000;
/** From the connection to the end of the answer. */
const call_max_ms = 20_000;
const answer_bytes_max = 1024 * 1024;
