import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { messageOf, OperatorError } from "../base/errors.ts";
import { isTimezone, timezoneMeant } from "../base/timezone.ts";
import { type NeedDuty, needDuties } from "../domain/fleet-home.ts";
import { isServerAddress, tokenFileWarnings } from "./server-access.ts";
import {
  checkTable,
  type Document,
  type DocumentKind,
  readDocument,
  unknownKey,
  where,
} from "./toml-document.ts";

/** To whom central writes of what homes need, and by which server of mail. */
export interface AlertSettings {
  /** Central's address, for links. */
  readonly url: string;
  /** Absolute path of the directory in which central keeps who has heard of what. */
  readonly directory: string;
  readonly smtp: SmtpSettings;
  /** At most one for each address. */
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

export interface AlertRecipient {
  readonly mail: string;
  readonly duties: readonly NeedDuty[];
  /** Absent: all. */
  readonly homes?: readonly number[] | undefined;
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
  checkTable(document, ["smtp"], smtpSchema, smtp);
  if (!Array.isArray(tables) || tables.length === 0 || tables.length > recipients_max)
    throw new OperatorError(
      `${where(document, ["recipient"])}: there must be from 1 to ${recipients_max} recipients`,
      "write [[recipient]] above the keys of each, and one for a list of people that the mail server knows",
    );
  const absolute = (name: string) => resolve(dirname(resolve(file)), name);
  const { password_file, ...server } = smtp as Static<typeof smtpSchema>;
  const recipients = tables.map((table, place) => recipientOf(document, place, table));
  requireEveryDuty(document, recipients);
  const password = password_file && absolute(password_file);
  return {
    url: String(url).replace(/\/+$/, ""),
    directory: absolute(String(directory)),
    smtp: { ...server, password_file: password },
    recipients,
    warnings: password === undefined ? [] : tokenFileWarnings(password, where(document, ["smtp"])),
  };
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
  mail: Type.String({ description: `an address such as ${address}` }),
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

function recipientOf(document: Document, place: number, table: unknown): AlertRecipient {
  checkTable(document, ["recipient", String(place)], recipientSchema, table);
  const { quiet = "20:00-08:00", digest = "08:00", ...rest } = table as Static<typeof recipientSchema>;
  const [from = "", to = ""] = quiet.split("-");
  return { ...rest, digest, quiet: { from, to } };
}

/** Nothing that a home can need is nobody's: what no recipient has as a duty goes to those who have `lead`. */
function requireEveryDuty(document: Document, recipients: readonly AlertRecipient[]): void {
  const twice = recipients.find(
    ({ mail }, place) => recipients.findIndex((one) => one.mail === mail) < place,
  );
  if (twice !== undefined)
    throw new OperatorError(
      `${document.file}: ${twice.mail} is a recipient twice`,
      "write one [[recipient]] with all duties of that address",
    );
  const everywhere = recipients.filter(({ homes }) => homes === undefined);
  const has = (duty: NeedDuty) => everywhere.some(({ duties }) => duties.includes(duty));
  const open = needDuties.filter((duty) => duty !== "lead" && !has(duty));
  if (open.length > 0 && !has("lead"))
    throw new OperatorError(
      `${document.file}: nobody has the duty ${open.join(" or ")} for every home`,
      'give it to a recipient without homes, or "lead", which has what nobody else has',
    );
}

const recipients_max = 100;
const default_directory = "/var/lib/lintel-central/alerts";
