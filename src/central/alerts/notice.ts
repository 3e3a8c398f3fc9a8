import type { Clock } from "../../base/clock.ts";
import type { AlertRecipient, AlertSettings } from "../../config/alert-settings.ts";
import type { WaitingNotice } from "./alert-state.ts";
import type { NoticeContent } from "./due-notices.ts";
import { mailText } from "./mail-text.ts";
import { smtpSender } from "./smtp.ts";
import { callWebhook, webhookBody } from "./webhook.ts";

/** A mail, or the call of a webhook. */
export type Notice = Pick<WaitingNotice, "message_id" | "subject" | "text">;

/** Hands a notice over. Rejects where the server or receiver does not take it. */
export type SendNotice = (recipient: AlertRecipient, notice: Notice) => Promise<void>;

interface Making {
  readonly settings: Pick<AlertSettings, "url" | "smtp">;
  /** A text that nobody had before. */
  readonly id: string;
  readonly now_ms: number;
}

/** The mail or call that brings a content to a recipient. */
export function noticeOf(
  content: NoticeContent,
  { webhook }: AlertRecipient,
  { settings, id, now_ms }: Making,
): Notice {
  const { url } = settings;
  const { subject, text } = mailText(content, url);
  if (webhook === undefined) return { message_id: mailId(id, settings), subject, text };
  return { message_id: id, subject, text: webhookBody(content, { subject, url, now_ms }) };
}

/** A mail or call that tries whether anything arrives. */
export function testNotice({ webhook }: AlertRecipient, { settings, id, now_ms }: Making): Notice {
  const { url } = settings;
  const subject = "Lintel: test";
  if (webhook === undefined)
    return { message_id: mailId(id, settings), subject, text: `This is a test of the alerts of ${url}/\n` };
  const nothing = { kind: "test", told: [], over: [], open: [] } as const;
  return { message_id: id, subject, text: webhookBody(nothing, { subject, url, now_ms }) };
}

/** Sends to webhooks, and to everybody else by the server of mail of the settings. */
export function noticeSender({ smtp }: Pick<AlertSettings, "smtp">, clock: Clock): SendNotice {
  const mail = smtp && smtpSender(smtp);
  return async ({ to, webhook }, { message_id, subject, text }) => {
    if (webhook !== undefined) return callWebhook(webhook, { id: message_id, body: text }, clock);
    await mail?.({ to, message_id, subject, text });
  };
}

function mailId(id: string, { smtp }: Pick<AlertSettings, "smtp">): string {
  return `<${id}@${smtp?.from.split("@").at(-1)}>`;
}
