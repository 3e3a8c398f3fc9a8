import type { AlertRecipient } from "../../../../src/config/alert-settings.ts";
import { type NeedType, needRules } from "../../../../src/domain/fleet-home.ts";
import type { ReceivedMail } from "../../../../testbed/mail-server.ts";
import type { ReceivedCall } from "../../../../testbed/webhook-receiver.ts";

/** A recipient of the trial; a webhook has no @ in its name. */
export type TrialRecipient = Omit<AlertRecipient, "webhook">;

/** Field teams of two coasts by mail, one of them by a desk that never sleeps too, people for data and servers, and tickets of three needs. */
export function recipientsOf(homes: number): readonly TrialRecipient[] {
  const half = Math.floor(homes / 2);
  const west = Array.from({ length: half }, (_, place) => place + 1);
  const east = Array.from({ length: homes - half }, (_, place) => half + place + 1);
  const night = { quiet: { from: "20:00", to: "08:00" }, digest: "08:30" };
  const never = { from: "00:00", to: "00:00" };
  const [la, berlin] = ["America/Los_Angeles", "Europe/Berlin"];
  return [
    { ...night, to: "west@example.org", duties: ["field"], homes: west, timezone: la },
    { ...night, to: "east@example.org", duties: ["field"], homes: east, timezone: berlin },
    { ...night, to: "data@example.org", duties: ["data"], timezone: berlin },
    { ...night, to: "lead@example.org", duties: ["lead", "server"], timezone: berlin },
    { ...night, to: "desk", duties: ["field"], homes: west, timezone: la, quiet: never },
    {
      ...{ ...night, to: "tickets", duties: ["field", "data"], timezone: berlin },
      ...{ quiet: { from: "22:00", to: "06:00" }, needs: ["item_silent", "upload_overdue", "data_differ"] },
    },
  ];
}

/** The file of alerts. */
export function settingsText(
  recipients: readonly TrialRecipient[],
  { mail, hooks }: { readonly mail: string; readonly hooks: Readonly<Record<string, string>> },
): string {
  const tables = recipients.map(({ to, duties, homes, needs, timezone, quiet, digest }) => {
    const hook = hooks[to];
    return Object.entries({
      ...(hook === undefined ? { mail: to } : { webhook: hook, name: to, secret_file: to }),
      ...{ duties, homes, needs, timezone, digest, quiet: `${quiet.from}-${quiet.to}` },
    })
      .flatMap(([key, value]) => (value === undefined ? [] : [`${key} = ${JSON.stringify(value)}`]))
      .join("\n");
  });
  return [
    `url = "https://central.example"\ndirectory = "alerts"`,
    `[smtp]\nurl = "${mail}"\nfrom = "lintel@example.org"`,
    ...tables.map((table) => `[[recipient]]\n${table}`),
  ].join("\n\n");
}

/** An alert that a recipient was told of, each time that it came. */
export interface Heard {
  readonly to: string;
  readonly at_ms: number;
  /** The same where one notice came twice. */
  readonly notice: string;
  readonly kind: "new" | "digest" | "escalated";
  readonly id: number;
  readonly home: number;
  readonly need: NeedType;
}

const needByTitle = new Map(Object.entries(needRules).map(([need, { title }]) => [title, need as NeedType]));

/** Alerts of homes in mails, which came at these times. */
export function inMails(mails: readonly ReceivedMail[], received_ms: readonly number[]): Heard[] {
  return mails.flatMap(({ to, subject, messageId, text }, place) => {
    const [told = ""] = text.split(/^(?:Over since the last digest|Still open):$/m);
    const kind = /not acknowledged/.test(subject) ? "escalated" : /digest/.test(subject) ? "digest" : "new";
    return told.split(/^(?=Home \d)/m).flatMap((part) => {
      const home = Number(/^Home (\d+)/.exec(part)?.[1]);
      return [...part.matchAll(/^ {2}(\d+) {2}([^:]+):/gm)].flatMap(([, id, title = ""]) => {
        const need = needByTitle.get(title);
        if (Number.isNaN(home) || need === undefined) return [];
        return [{ to, at_ms: received_ms[place] ?? 0, notice: messageId, kind, id: Number(id), home, need }];
      });
    });
  });
}

/** Alerts of homes in calls. */
export function inCalls(to: string, calls: readonly ReceivedCall[]): Heard[] {
  return calls.flatMap(({ id: notice, time_s, type, data }) =>
    data.told.flatMap(({ id, home, need }) =>
      home === null
        ? []
        : [
            {
              ...{ to, at_ms: time_s * 1_000, notice, id, home, need: need as NeedType },
              kind: type.replace("alerts.", "") as Heard["kind"],
            },
          ],
    ),
  );
}
