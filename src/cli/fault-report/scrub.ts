import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join, normalize } from "node:path";
import { openForReading } from "../../store/sqlite/connection.ts";

/** Takes out of free texts all that could name a person, a place or a device. The same thing has the same number throughout a report. */
export class Scrub {
  readonly #allowed: ReadonlySet<string>;
  readonly #names: ReadonlySet<string>;
  readonly #numbers = new Map<string, Map<string, number>>();

  /**
   * @param options.words that may stay, in lower case
   * @param options.names that may not, whatever words they are made of: names of people, items, rooms and tokens
   */
  constructor({ words, names }: { words: ReadonlySet<string>; names: readonly string[] }) {
    this.#allowed = words;
    this.#names = new Set(names.flatMap((name) => partsOf(name)));
  }

  /** A text with nothing left but words of the program, times, short numbers, and numbered stand-ins. */
  text(text: string): string {
    return text.replace(pieces, (piece, ...found) => {
      const groups = found.at(-1) as Partial<Record<PieceKind, string>>;
      const kind = pieceKinds.find((one) => groups[one] !== undefined) ?? "other";
      return this.#stand[kind](piece);
    });
  }

  /** An address of a device: its maker's half, and a number for the rest. */
  address(address: string): string {
    const digits = address.replace(/^0x/i, "").replaceAll(/[:-]/g, "").toLowerCase();
    if (!/^([\da-f]{12}|[\da-f]{16})$/.test(digits)) return this.#stands("address", address.toLowerCase());
    return `${digits.slice(0, 6)}${this.#stands("address", digits)}`;
  }

  /** A key of a file that may be mistyped: one of the program's words stays, whoever has it as a name. */
  key(name: string): string {
    return this.#allowed.has(name) ? name : this.text(name);
  }

  /** Every text in a value of lists and plain objects; names of fields stay. */
  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((one) => this.value(one));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, this.value(of)]));
  }

  #word(word: string): string {
    const said = word.toLowerCase();
    const isName = partsOf(word).some((part) => this.#names.has(part));
    if (!isName && (this.#allowed.has(said) || errorCode.test(word))) return word;
    return this.#stands("word", said);
  }

  /** `‹address 1›`: one number for each text of a kind. */
  #stands(kind: string, text: string): string {
    const numbers = this.#numbers.get(kind) ?? new Map<string, number>();
    this.#numbers.set(kind, numbers);
    const number = numbers.get(text) ?? numbers.size + 1;
    numbers.set(text, number);
    return `‹${kind} ${number}›`;
  }

  readonly #stand: Readonly<Record<PieceKind, (piece: string) => string>> = {
    moment: (piece) => piece,
    token: (piece) => this.#stands("token", piece),
    mail: (piece) => this.#stands("mail", piece.toLowerCase()),
    url: (piece) => `${piece.slice(0, piece.indexOf(":"))}://${this.#stands("host", piece.toLowerCase())}`,
    address: (piece) => this.address(piece),
    network: (piece) => (piece === "127.0.0.1" || piece === "0.0.0.0" ? piece : this.#stands("host", piece)),
    phone: (piece) => this.#stands("number", piece),
    amount: (piece) => piece,
    word: (piece) => this.#word(piece),
    other: (piece) => (/^\d{1,6}$/.test(piece) ? piece : this.#stands("number", piece.toLowerCase())),
  };
}

/** Words and numbers that a name is made of, in lower case; not the single digits and letters, which everything is made of. */
function partsOf(name: string): string[] {
  return (name.toLowerCase().match(/\p{L}[\p{L}\p{M}]+|\d{4,}/gu) ?? []).flatMap((part) =>
    part.normalize("NFC"),
  );
}

type PieceKind = (typeof pieceKinds)[number] | "other";
const pieceKinds = [
  "moment",
  "token",
  "mail",
  "url",
  "address",
  "network",
  "phone",
  "amount",
  "word",
] as const;

/** The first that matches at a place holds; `other` is whatever letters and digits are left. */
const pieces = new RegExp(
  [
    String.raw`(?<moment>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?\b|\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b(?!:))`,
    String.raw`(?<token>\b[a-z0-9]{12}\.[\w-]{20,})`,
    String.raw`(?<mail>[^\s@<>"']+@[^\s@<>"']+)`,
    String.raw`(?<url>\b[a-z][a-z\d+.-]*:\/\/[^\s"'<>)]+)`,
    String.raw`(?<address>\b(?:0x[\da-f]{16}|(?:[\da-f]{2}[:-]){7}[\da-f]{2}|(?:[\da-f]{2}[:-]){5}[\da-f]{2}|[\da-f]{16}|(?=[a-f\d]*\d)[\da-f]{12})\b)`,
    String.raw`(?<network>\b\d{1,3}(?:\.\d{1,3}){3}\b|\b(?:[\da-f]{0,4}:){3,7}[\da-f]{0,4}|\b[\da-f]{1,4}::[\da-f:]*)`,
    String.raw`(?<phone>\+?\d[\d ()/.-]{6,}\d)`,
    String.raw`(?<amount>\b\d{1,6}(?:\.\d{1,6})?(?:ms|s|min|h|d|B|kB|MB|GB|TB|KiB|MiB|GiB|mV|V|dBm)\b)`,
    String.raw`(?<word>\p{L}[\p{L}\p{M}\p{N}_'’-]*)`,
    String.raw`[\p{N}][\p{L}\p{M}\p{N}_'’-]*`,
  ].join("|"),
  "giu",
);
const errorCode = /^(E[A-Z]{3,15}|SQLITE_[A-Z_]{2,30}|SIG[A-Z]{3,6})$/;

/**
 * Every word that occurs in the program itself, in lower case: what it logs is made of these, of numbers, and of what others have told it.
 * Read from the files that run: the source, or the bundle that this stands in.
 */
export function programWords(): ReadonlySet<string> {
  const words = new Set(systemWords.split(" "));
  for (const file of programFiles())
    for (const [word] of readFileSync(file, "utf8").matchAll(/\p{L}[\p{L}\p{N}_'’-]*/gu))
      words.add(word.toLowerCase());
  return words;
}

function programFiles(): string[] {
  const here = import.meta.dir;
  const isSource = here.endsWith("src/cli/fault-report");
  const directories = isSource
    ? ["src", "drivers"].map((name) => normalize(join(here, "../../..", name)))
    : [here];
  const ending = isSource ? /\.tsx?$/ : /\.js$/;
  return (
    directories
      // Beside a bundle lie the libraries that are not in it, whose words are no words of the program.
      .flatMap((directory) => readdirSync(directory, { recursive: isSource, withFileTypes: true }))
      .filter((entry) => entry.isFile() && ending.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      // The demo and the simulators have made-up people, rooms and devices.
      .filter((path) => !/(src\/demo|simulator)\//.test(path))
      .slice(0, files_max)
  );
}

/** Words of systemd about units, which no file of the program has. */
const systemWords =
  "started starting stopped stopping main process exited code killed dumped status kill segv abrt term failed with result nightly lintel-first-boot lintel-upload lintel-clock lintel-central lintel-update scheduled restart job counter at deactivated successfully consumed cpu time watchdog timeout limit core-dump exit-code signal oom-kill reloading condition check resulted in being skipped unit";
const files_max = 5_000;

/**
 * Every text of a store that may name somebody or something of theirs: of the programme's records, of items of the inventory, of names that
 * people have given, of tokens. And this machine's name.
 *
 * @param path of the database
 */
export function namesIn(path: string): string[] {
  const database = openForReading(path);
  try {
    const texts = (sql: string) =>
      database
        .query(sql)
        .values()
        .flat()
        .filter((text) => typeof text === "string");
    const records = [
      ...texts("SELECT record FROM items WHERE provisional = 0"),
      // Notes in prose are in no log, and have every word there is.
      ...texts(
        "SELECT record FROM records WHERE type NOT IN ('comments', 'alerts', 'issues', 'scheduled_contacts', 'consents')",
      ),
    ].flatMap((record) => textsIn(JSON.parse(record)));
    const given = texts("SELECT name FROM given_names UNION ALL SELECT room FROM given_names");
    return [...new Set([...records, ...given, ...texts("SELECT name FROM tokens"), hostname()])];
  } finally {
    database.close();
  }
}

/** The texts of a record, but those of a few words that every programme has, and prose. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, of]) => (common.has(name) ? [] : textsIn(of)));
}

const common = new Set([
  ...["typename", "subtypename", "statusname", "timezone", "contacttypename", "durationname", "reasonname"],
  ...["contactText", "studycriteria", "studysummary", "studystatecomment"],
]);
