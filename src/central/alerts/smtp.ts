import { type SmtpSettings, smtpPassword } from "../../config/alert-settings.ts";
import { isOwnHost } from "../../config/server-access.ts";

interface OutgoingMail {
  readonly to: string;
  readonly message_id: string;
  readonly subject: string;
  readonly text: string;
}

/** Hands a mail to the server. Rejects where that does not take it. */
type SendMail = (mail: OutgoingMail) => Promise<void>;

/** Sends by the server of the settings, one connection a mail. A password travels by TLS alone, but to this machine. */
export function smtpSender(smtp: SmtpSettings): SendMail {
  const url = new URL(smtp.url);
  return async ({ to, message_id, subject, text }) => {
    const password = smtpPassword(smtp);
    // Loaded when the first mail goes out: most centrals send none.
    const { createTransport } = await import("nodemailer");
    const secure = url.protocol === "smtps:";
    const transport = createTransport({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port) || (secure ? 465 : 587),
      secure,
      requireTLS: password !== undefined && !isOwnHost(url.hostname),
      ...(password === undefined ? {} : { auth: { user: decodeURIComponent(url.username), pass: password } }),
      ...{ connectionTimeout: answer_max_ms, greetingTimeout: answer_max_ms, socketTimeout: answer_max_ms },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    });
    try {
      const headers = { "Auto-Submitted": "auto-generated" };
      await transport.sendMail({ from: smtp.from, to, messageId: message_id, subject, text, headers });
    } finally {
      transport.close();
    }
  };
}

/** For each answer of the server. */
const answer_max_ms = 20_000;
