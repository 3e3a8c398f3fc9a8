import { type Static, Type } from "@sinclair/typebox";
import { OperatorError } from "../base/errors.ts";
import { startOfDate_ms } from "../base/time.ts";
import { checkTable, type DocumentKind, readDocument, unknownKey, where } from "./toml-document.ts";

/** How long the data of a programme are kept, and what is done with them then. One of `years` and `until_ms` is there. */
export interface RetentionSettings {
  /** After the last enrollment in a home, or of a participant, has ended. */
  readonly years?: number | undefined;
  /** The same moment for all, unix milliseconds. */
  readonly until_ms?: number | undefined;
  readonly act: "restrict" | "erase";
  /** For so many days central tells it before. */
  readonly notice_days: number;
}

export const defaultRetentionFile = "/etc/lintel/retention.toml";

/** Reads and checks `[retention]`. @throws OperatorError that names file, line and key, with the values that are allowed there */
export function readRetentionSettings(file: string): RetentionSettings {
  const document = readDocument(file, retentionDocument);
  const { retention, ...others } = document.values;
  const [odd] = Object.keys(others);
  if (odd !== undefined) throw unknownKey(document, [odd], ["retention"]);
  checkTable(document, ["retention"], schema, retention ?? {});
  const { years, until, action, notice_days = notice_default_days } = retention as Static<typeof schema>;
  if ((years === undefined) === (until === undefined))
    throw new OperatorError(
      `${where(document, ["retention"])}: retention needs one of years and until`,
      'write years = 10, counted from the last enrollment, or until = "2036-12-31"',
    );
  return {
    years,
    until_ms: until === undefined ? undefined : startOfDate_ms("UTC", until),
    act: action,
    notice_days,
  };
}

const notice_default_days = 30;

const schema = Type.Object({
  years: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, description: "a number of years from 1 to 200" }),
  ),
  until: Type.Optional(Type.String({ description: 'a date such as "2036-12-31"' })),
  action: Type.Union([Type.Literal("restrict"), Type.Literal("erase")], {
    description: '"restrict" or "erase"',
  }),
  notice_days: Type.Optional(
    Type.Integer({ minimum: 7, maximum: 366, description: "a number of days from 7 to 366" }),
  ),
});

const retentionDocument: DocumentKind = {
  name: "file of the retention",
  option: "--retention",
  checks: {
    "retention.until": (text) => /^\d{4}-\d\d-\d\d$/.test(text) && startOfDate_ms("UTC", text) !== undefined,
  },
};
