import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { messageOf, OperatorError } from "../base/errors.ts";
import { isTimezone, timezoneMeant } from "../base/timezone.ts";
import { type NeedDuty, type NeedType, needDuties, needRules } from "../domain/fleet-home.ts";
import { isInTheOpen, isServerAddress, tokenFileWarnings } from "./server-access.ts";
import {
  checkTable,
  type Document,
  type DocumentKind,
  readDocument,
  unknownKey,
  where,
} from "./toml-document.ts";

/** Recipients of what homes need, and how central reaches them. */
export interface AlertSettings {
  /** Central's address, for links. */
  readonly url: string;
  /** Absolute path of the directory in which central keeps who has heard of what. */
  readonly directory: string;
  /** Absent: every recipient is a webhook. */
  readonly smtp?: SmtpSettings | undefined;
  /** At most one of each name. */
  readonly recipients: readonly AlertRecipient[];
  /** Faults that do not prevent a start, one line each. */
  readonly warnings: readonly string[];
}

export interface SmtpSettings {
  /** `smtps://user@host:465` is TLS from the start, `smtp://host:587` TLS as soon as the server offers it. */
  readonly url: string;
  /** Absolute path of the file that holds the password, where the server wants one. */
  readonly password_file?: string | undefined;
  readonly from: string;
}

/** A program that is called. */
export interface AlertWebhook {
  readonly url: string;
  /** Absolute paths: of the secret that signs calls, and of the certificate of the receiver where no authority vouches for it. */
  readonly secret_file: string;
  readonly certificate?: string | undefined;
}

export interface AlertRecipient {
  /** An address of mail, or the name of a webhook, whose address may be a secret. */
  readonly to: string;
  /** Absent: mail is sent. */
  readonly webhook?: AlertWebhook | undefined;
  readonly duties: readonly NeedDuty[];
  /** Absent: all. */
  readonly homes?: readonly number[] | undefined;
  readonly needs?: readonly NeedType[] | undefined;
  readonly timezone: string;
  /** Local times, `HH:MM`. The second may be before the first: then the span goes over midnight. */
  readonly quiet: { readonly from: string; readonly to: string };
  readonly digest: string;
}

export const defaultAlertFile = "/etc/lintel/alerts.toml";

/**
 * Reads and checks the settings of alerts; relative paths are meant from where the file is.
 *
 * @throws OperatorError that names file, line and key, with the values that are allowed there
 */
export function readAlertSettings(file: string): AlertSettings {
  const document = readDocument(file, alertDocument);
  const { smtp, recipient: tables = [], ...others } = document.values;
  const { url, directory = default_directory, ...unknown } = others;
  const [odd] = Object.keys(unknown);
  if (odd !== undefined) throw unknownKey(document, [odd], ["url", "directory", "smtp", "recipient"]);
  checkTable(document, [], topSchema, { url, directory });
  if (smtp !== undefined) checkTable(document, ["smtp"], smtpSchema, smtp);
  if (!Array.isArray(tables) || tables.length === 0 || tables.length > recipients_max)
    throw new OperatorError(
      `${where(document, ["recipient"])}: there must be from 1 to ${recipients_max} recipients`,
      "write [[recipient]] above the keys of each, and one for a list of people that the mail server knows",
    );
  const absolute = (name: string) => resolve(dirname(resolve(file)), name);
  const recipients = tables.map((table, place) => recipientOf(document, place, table, absolute));
  requireEveryDuty(document, recipients);
  const writtenTo = recipients.find(({ webhook }) => webhook === undefined);
  if (smtp === undefined && writtenTo !== undefined)
    throw new OperatorError(
      `${document.file}: there is no server of mail to write to ${writtenTo.to}`,
      "write [smtp] with url and from",
    );
  return {
    url: String(url).replace(/\/+$/, ""),
    directory: absolute(String(directory)),
    ...smtpOf(document, smtp, recipients, absolute),
    recipients,
  };
}

/** The server of mail, and warnings of secrets that others may read. */
function smtpOf(
  document: Document,
  smtp: unknown,
  recipients: readonly AlertRecipient[],
  absolute: (name: string) => string,
): Pick<AlertSettings, "smtp" | "warnings"> {
  const hooks = recipients.flatMap(({ webhook }, place) =>
    webhook === undefined
      ? []
      : tokenFileWarnings(webhook.secret_file, where(document, ["recipient", String(place)])),
  );
  if (smtp === undefined) return { warnings: hooks };
  const { password_file, ...server } = smtp as Static<typeof smtpSchema>;
  const password = password_file && absolute(password_file);
  const own = password === undefined ? [] : tokenFileWarnings(password, where(document, ["smtp"]));
  return { smtp: { ...server, password_file: password }, warnings: [...own, ...hooks] };
}

/** The password of the server of mail; undefined where none is set. @throws OperatorError where its file cannot be read */
export function smtpPassword({ password_file }: SmtpSettings): string | undefined {
  if (password_file === undefined) return undefined;
  try {
    return readFileSync(password_file, "utf8").trim();
  } catch (thrown) {
    throw new OperatorError(
      `the password file ${password_file} cannot be read (${messageOf(thrown)})`,
      "write the password into it, readable for the user that central runs as",
    );
  }
}

const topSchema = Type.Object({
  url: Type.String({ description: 'the address of central, such as "https://central.example"' }),
  directory: Type.String({ minLength: 1, description: "the path of a directory" }),
});

const address = '"name@example.org"';
const smtpSchema = Type.Object({
  url: Type.String({ description: 'such as "smtps://user@mail.example:465" or "smtp://localhost:25"' }),
  password_file: Type.Optional(Type.String({ minLength: 1, description: "the path of a file" })),
  from: Type.String({ description: `an address such as ${address}` }),
});

const recipientSchema = Type.Object({
  mail: Type.Optional(Type.String({ description: `an address such as ${address}` })),
  webhook: Type.Optional(Type.String({ description: 'an address such as "https://hooks.example/lintel"' })),
  name: Type.Optional(Type.String({ description: 'a name such as "field-desk"' })),
  secret_file: Type.Optional(Type.String({ minLength: 1, description: "the path of a file" })),
  certificate: Type.Optional(Type.String({ minLength: 1, description: "the path of a PEM file" })),
  duties: Type.Array(Type.Union(needDuties.map((duty) => Type.Literal(duty))), {
    minItems: 1,
    description: `a list of ${needDuties.map((duty) => `"${duty}"`).join(", ")}`,
  }),
  homes: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), {
      minItems: 1,
      maxItems: 10_000,
      description: "a list of numbers of homes",
    }),
  ),
  needs: Type.Optional(
    Type.Array(Type.Union(Object.keys(needRules).map((need) => Type.Literal(need as NeedType))), {
      ...{ minItems: 1, maxItems: Object.keys(needRules).length },
      description: `a list of ${Object.keys(needRules)
        .map((need) => `"${need}"`)
        .join(", ")}`,
    }),
  ),
  timezone: Type.String({ description: 'a time zone such as "Europe/Berlin"' }),
  quiet: Type.Optional(Type.String({ description: 'two times of day, such as "20:00-08:00"' })),
  digest: Type.Optional(Type.String({ description: 'a time of day, such as "08:00"' })),
});

const time = "(?:[01]\\d|2[0-3]):[0-5]\\d";
const isMail = (text: string) => /^[^\s@<>",;:]{1,64}@[^\s@<>",;:]{1,190}$/.test(text);

const alertDocument: DocumentKind = {
  name: "file of alerts",
  option: "--alerts",
  checks: {
    url: isServerAddress,
    "smtp.url": (text) => isSmtp(text),
    "smtp.from": isMail,
    "recipient.mail": isMail,
    "recipient.webhook": isWebhook,
    "recipient.name": (text) => /^[a-z0-9][a-z0-9-]{0,39}$/.test(text),
    "recipient.timezone": (text) => isTimezone(text) || (timezoneMeant(text) ?? false),
    "recipient.quiet": (text) => new RegExp(`^${time}-${time}$`).test(text),
    "recipient.digest": (text) => new RegExp(`^${time}$`).test(text),
  },
};

/** The password is in a file of its own: a URL with one is refused. */
function isSmtp(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== "" && url.password === "";
}

/** An address for calls: they travel by TLS alone, except to this machine. */
function isWebhook(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    `${url.username}${url.password}${url.hash}` === "" &&
    !isInTheOpen(text)
  );
}

function recipientOf(
  document: Document,
  place: number,
  table: unknown,
  absolute: (name: string) => string,
): AlertRecipient {
  const path = ["recipient", String(place)];
  checkTable(document, path, recipientSchema, table);
  const {
    mail,
    webhook: url,
    name,
    secret_file,
    certificate,
    ...others
  } = table as Static<typeof recipientSchema>;
  const { quiet = "20:00-08:00", digest = "08:00", ...rest } = others;
  const [from = "", before = ""] = quiet.split("-");
  const both = { ...rest, digest, quiet: { from, to: before } };
  const ofHook = [url, name, secret_file, certificate].filter((one) => one !== undefined);
  if (mail !== undefined && ofHook.length === 0) return { to: mail, ...both };
  if (mail !== undefined || url === undefined || name === undefined || secret_file === undefined)
    throw new OperatorError(
      `${where(document, path)}: this [[recipient]] is neither an address of mail nor a webhook`,
      "write mail alone, or webhook with name and secret_file",
    );
  const webhook = {
    url,
    secret_file: absolute(secret_file),
    certificate: certificate && absolute(certificate),
  };
  return { to: name, webhook, ...both };
}

/** Nothing that a home can need is nobody's: what no recipient has as a duty goes to those who have `lead`. */
function requireEveryDuty(document: Document, recipients: readonly AlertRecipient[]): void {
  const twice = recipients.find(({ to }, place) => recipients.findIndex((one) => one.to === to) < place);
  if (twice !== undefined)
    throw new OperatorError(
      `${document.file}: ${twice.to} is a recipient twice`,
      "write one [[recipient]] with all its duties",
    );
  const everywhere = recipients.filter(({ homes, needs }) => homes === undefined && needs === undefined);
  const has = (duty: NeedDuty) => everywhere.some(({ duties }) => duties.includes(duty));
  const open = needDuties.filter((duty) => duty !== "lead" && !has(duty));
  if (open.length > 0 && !has("lead"))
    throw new OperatorError(
      `${document.file}: nobody has the duty ${open.join(" or ")} for every home`,
      'give it to a recipient without homes and needs, or "lead", which has what nobody else has',
    );
}

const recipients_max = 100;
const default_directory = "/var/lib/lintel-central/alerts";
