import { type Command, InvalidArgumentError, Option } from "commander";
import { OperatorError } from "../base/errors.ts";
import { type Binding, mintToken, syncToken_ms } from "../domain/token.ts";
import { type Scope, type Store, scopes, type Token } from "../store/store.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { opensHereAlone, originOf, parseOrigin, printQrCode, signInLink } from "./sign-in-link.ts";
import { addFillingOptions, addStoreOptions, type StoreOptions } from "./store-place.ts";
import { momentText, parseSpan_ms, printTable, type TableColumns } from "./terminal-text.ts";
import { mayMake, withStore } from "./with-store.ts";

/** `lintel token`: creates, lists and revokes access tokens. */
export function define(command: Command, context: CommandContext): void {
  const create = command.command("create <name>").description("make a token; it is shown once, now");
  addHelp(create, {
    examples: {
      "lintel token create maria": "a read token for Maria, who sees everything",
      "lintel token create jon --project 3": "one that sees the homes and people of project 3 alone",
      "lintel token create ci --expires 90d --json": "one that ends in 90 days, for a script",
      "lintel token create lea --expires 1d --link": "with a link that opens the pages, also as a QR code",
    },
    notes: ["Tokens are kept hashed: one that is lost is revoked and made anew."],
  });
  addFillingOptions(create)
    .addOption(
      new Option("--scope <scope>", "read the API, sync as a home's gateway, or administer")
        .choices([...scopes])
        .default("read"),
    )
    .option("--home <id>", "a home that the token is bound to: one of a sync token, or more", numbers(1))
    .option("--project <id>", "a project that a read token is bound to, or more", numbers(0))
    .option("--study <id>", "a study that a read token is bound to, or more", numbers(0))
    .option(
      "--restricted",
      "it sees restricted homes too, and the journal has each use of it: docs/consent.md",
    )
    .option(
      "--expires <span>",
      "stop accepting it after this time: 12h, 90d, 2y (default: never; a sync token: a year after its last use)",
      parseExpiry,
    )
    .option(
      "--link [url]",
      "also print a link that opens the pages and signs in; url: where they are reached (default: the gateway's)",
      parseOrigin,
    )
    .option("--json", "print {id, token} as JSON, with --link {id, token, link}")
    .action((name: string, options: CreateOptions) => createToken(name, options, context));

  const list = command.command("list").description("list the tokens; what is secret is not kept");
  addStoreOptions(list)
    .option("--json", "print them as a JSON array")
    .action((options: StoreOptions) => listTokens(options, context));

  const revoke = command.command("revoke <id>").description("stop accepting a token, from now on");
  addStoreOptions(revoke)
    .option("--json", "print {id, revoked} as JSON")
    .action((id: string, options: StoreOptions) => revokeToken(id, options, context));

  addHelp(command, {
    examples: {
      "lintel token create maria --expires 365d": "a read token that ends in a year",
      "lintel token list": "every token, with when it was last used",
      "lintel token revoke k3v9x2m4p7qa": "by the id that list shows",
    },
  });
}

interface CreateOptions extends StoreOptions {
  readonly scope: Scope;
  readonly home?: readonly number[];
  readonly project?: readonly number[];
  readonly study?: readonly number[];
  readonly restricted?: boolean;
  /** A span in milliseconds. */
  readonly expires?: number;
  /** The origin in the link, or true: where the gateway is reached. */
  readonly link?: string | true;
}

async function createToken(name: string, options: CreateOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  // A control character would act on the terminal on which tokens are listed.
  if (name.trim() === "" || name.length > name_length_max || /\p{Cc}/u.test(name)) {
    throw new OperatorError(
      `${JSON.stringify(name)} is not a name for a token`,
      `give 1 to ${name_length_max} characters on one line that say who holds it`,
    );
  }
  if (options.restricted && options.scope === "sync")
    throw new OperatorError("a sync token sees nothing that is restricted", "give --scope read or admin");
  const { token: made, text } = mintToken({
    name,
    scope: options.scope,
    restricted: options.restricted,
    clock,
    ...boundTo(options),
  });
  const token = { ...made, expires_ms: expiresIn(options, made.created_ms) };
  const origin = await linkOrigin(options);
  const unknown = await withStore(
    options,
    context,
    async (store) => {
      await store.addToken(token);
      return token.binding === undefined ? [] : await unknownIn(store, token.binding);
    },
    { create: mayMake(options) },
  );
  for (const words of unknown)
    terminal.say(`there is no record of ${words} yet: the token sees what will belong to it`);
  const link = origin === undefined ? undefined : signInLink(origin, text);
  if (options.json) {
    terminal.printJson({ id: token.id, token: text, link });
    return;
  }
  terminal.print(text);
  const ends = token.expires_ms === undefined ? "never expires" : `expires ${momentText(token.expires_ms)}`;
  const { dim } = terminal.errorColours;
  terminal.say(
    dim(`This token of ${name} (id ${token.id}, ${allowed(token)}) ${ends}. It is not shown again.`),
  );
  if (link === undefined) return;
  const where = opensHereAlone(link) ? " and opens on this machine alone" : "";
  terminal.say(dim(`The link has the token in it${where}: give it to nobody else.`));
  terminal.print(terminal.colours.cyan(link));
  await printQrCode(terminal, link, prompt_rows);
}

/** When a token ends; undefined: never. @throws OperatorError where a sync token is to last longer than one does */
function expiresIn({ scope, expires: span_ms }: CreateOptions, now_ms: number): number | undefined {
  if (scope !== "sync") return span_ms && now_ms + span_ms;
  if (span_ms !== undefined && span_ms >= syncToken_ms)
    throw new OperatorError(
      "a sync token lasts a year, and each upload renews it",
      "leave --expires out, or give less than 365d for one that is never renewed",
    );
  return now_ms + (span_ms ?? syncToken_ms);
}

/** The origin of the link that is asked for; undefined where none is. @throws OperatorError where there can be none */
async function linkOrigin(options: CreateOptions): Promise<string | undefined> {
  const { link, scope } = options;
  if (link === undefined) return undefined;
  if (scope === "sync")
    throw new OperatorError("a sync token opens no pages", "leave --link out, or make a read or admin token");
  if (link !== true) return link;
  // Before an address is looked for: a mistyped directory is the greater fault.
  mayMake(options);
  return originOf(options);
}

async function listTokens(options: StoreOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const tokens = await withStore(options, context, (store: Store) => store.tokens());
  const now_ms = clock.now().unix_ms;
  if (options.json) {
    terminal.printJson(
      tokens.map(({ hash: _, ...shown }) => ({ ...shown, expired: expired(shown, now_ms) })),
    );
    return;
  }
  if (tokens.length === 0) {
    terminal.say("There are no tokens yet: lintel token create NAME makes one.");
    return;
  }
  const columns: TableColumns<Token> = {
    id: ({ id }) => id,
    name: ({ name }) => name,
    scope: (token) => allowed(token),
    created: ({ created_ms }) => momentText(created_ms),
    expires: (token) =>
      token.expires_ms === undefined
        ? "never"
        : `${momentText(token.expires_ms)}${expired(token, now_ms) ? " (expired)" : ""}`,
    "last used": ({ last_used_ms: used_ms }) => (used_ms === undefined ? "never" : momentText(used_ms)),
  };
  printTable(terminal, columns, tokens);
}

async function revokeToken(id: string, options: StoreOptions, context: CommandContext): Promise<void> {
  // The whole token may be given instead of its id.
  const bare = id.split(".")[0] ?? id;
  const revoked = await withStore(options, context, (store) => store.revokeToken(bare));
  if (!revoked)
    throw new OperatorError(`there is no token ${bare}`, "lintel token list shows those that there are");
  if (options.json) context.terminal.printJson({ id: bare, revoked: true });
  else context.terminal.say(`Token ${bare} is revoked.`);
}

/**
 * The binding that the options ask for: a sync token to one home, a read token to homes, projects and studies.
 *
 * @throws OperatorError where its scope knows no such binding
 */
function boundTo(options: CreateOptions): Pick<Token, "home" | "binding"> {
  const { scope, home = [], project = [], study = [] } = options;
  const given = (["home", "project", "study"] as const).filter((word) => options[word] !== undefined);
  const misplaced = given.find((word) => scope === "admin" || (scope === "sync" && word !== "home"));
  if (misplaced !== undefined)
    throw new OperatorError(
      `--${misplaced} does not bind ${scope} tokens`,
      scope === "admin" ? "leave it out, or add --scope read" : "bind a sync token by --home alone",
    );
  if (given.length === 0) return {};
  if (scope === "read")
    return { binding: { homes: inOrder(home), projects: inOrder(project), studies: inOrder(study) } };
  if (home.length > 1)
    throw new OperatorError("a sync token is of one home, and --home names several", "make one for each");
  return { home: home[0] };
}

/** The part of a binding that no record is of, in words: a mistyped number binds a token to nothing. */
async function unknownIn(store: Store, binding: Binding): Promise<string[]> {
  const found: string[] = [];
  for (const type of ["homes", "projects", "studies"] as const) {
    const known = await store.knownRecords(type, binding[type]);
    const unknown = binding[type].filter((number) => !known.has(number));
    if (unknown.length > 0) found.push(`${type} ${unknown.join(", ")}`);
  }
  return found;
}

/** Numbers of an option that may be given several times. */
function numbers(minimum: number): (text: string, before?: readonly number[]) => number[] {
  const parse = wholeNumber(minimum, Number.MAX_SAFE_INTEGER);
  return (text, before = []) => {
    if (before.length >= bound_max) throw new InvalidArgumentError(`It may be given ${bound_max} times.`);
    return [...before, parse(text)];
  };
}

function inOrder(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((one, other) => one - other);
}

/** A token's scope and what it is bound to, in words. */
function allowed({
  scope,
  home,
  binding,
  restricted,
}: Pick<Token, "scope" | "home" | "binding" | "restricted">): string {
  const bound = Object.entries(binding ?? {}).filter(([, numbers]) => numbers.length > 0);
  const words = bound.map(([what, numbers]) => `${what} ${numbers.join(", ")}`);
  if (home !== undefined) words.push(`home ${home}`);
  const also = restricted ? ", also restricted homes" : "";
  const of = words.length === 0 && binding === undefined ? "" : ` of ${words.join(", ") || "nothing"}`;
  return `${scope}${of}${also}`;
}

function expired(token: Pick<Token, "expires_ms">, now_ms: number): boolean {
  return token.expires_ms !== undefined && token.expires_ms <= now_ms;
}

function parseExpiry(text: string): number {
  const span_ms = parseSpan_ms(text);
  if (span_ms === undefined || span_ms > expires_max_ms) {
    throw new InvalidArgumentError("It must be a span such as 12h, 90d, 8w or 2y, at most 100y.");
  }
  return span_ms;
}

const name_length_max = 100;
/** Below a link stands the prompt of the shell, which may have two lines. */
const prompt_rows = 2;
/** Homes, projects or studies that one token names. */
const bound_max = 1_000;
const expires_max_ms = 100 * 31_536_000_000;
