import { type Command, InvalidArgumentError, Option } from "commander";
import { OperatorError } from "../errors.ts";
import { type Scope, type Store, scopes, type Token } from "../store/store.ts";
import { mintToken } from "../token.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { momentText, parseSpan_ms } from "./spans.ts";
import { addFillingOptions, addStoreOptions, type StoreOptions } from "./store-options.ts";
import { type Columns, printTable } from "./table.ts";
import { mayMake, withStore } from "./with-store.ts";

/** `lintel token`: creates, lists and revokes access tokens. */
export function define(command: Command, context: CommandContext): void {
  const create = command.command("create <name>").description("make a token; it is shown once, now");
  addHelp(create, {
    examples: {
      "lintel token create maria": "a read token for Maria",
      "lintel token create ci --expires 90d --json": "one that ends in 90 days, for a script",
    },
    notes: ["Tokens are kept hashed: one that is lost is revoked and made anew."],
  });
  addFillingOptions(create)
    .addOption(
      new Option("--scope <scope>", "read the API, sync as a home's gateway, or administer")
        .choices([...scopes])
        .default("read"),
    )
    .option("--home <id>", "the home that a sync token is bound to", wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option(
      "--expires <span>",
      "stop accepting it after this time: 12h, 90d, 2y (default: never)",
      parseExpiry,
    )
    .option("--json", "print {id, token} as JSON")
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
  readonly home?: number;
  /** A span in milliseconds. */
  readonly expires?: number;
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
  if (options.home !== undefined && options.scope !== "sync") {
    throw new OperatorError(
      `--home binds sync tokens, not ${options.scope} ones`,
      "add --scope sync, or leave it out",
    );
  }
  const { token, text } = mintToken({
    name,
    scope: options.scope,
    clock,
    home: options.home,
    expires_ms: options.expires && clock.now().unix_ms + options.expires,
  });
  await withStore(options, context, (store) => store.addToken(token), { create: mayMake(options) });
  if (options.json) {
    terminal.printJson({ id: token.id, token: text });
    return;
  }
  terminal.print(text);
  const ends = token.expires_ms === undefined ? "never expires" : `expires ${momentText(token.expires_ms)}`;
  const { dim } = terminal.errorColours;
  terminal.say(dim(`This ${token.scope} token of ${name} (id ${token.id}) ${ends}. It is not shown again.`));
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
  const columns: Columns<Token> = {
    id: ({ id }) => id,
    name: ({ name }) => name,
    scope: ({ scope, home }) => (home === undefined ? scope : `${scope} of home ${home}`),
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
const expires_max_ms = 100 * 31_536_000_000;
