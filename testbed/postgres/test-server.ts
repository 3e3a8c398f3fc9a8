/** A PostgreSQL server on which tests have databases of their own. */
export interface TestServer {
  /** Host and port, as messages name them. */
  readonly place: string;
  /** The URL of a database, with the password of the server's owner unless others are named. */
  url(database: string, user?: string, password?: string): string;
  /** A database of its own, empty or a copy of `template`, that goes at the end of the scope; nobody may be connected to the template. */
  database(template?: string): Promise<TestDatabase>;
  /** A database to copy, made by `make` when it is first asked for: see `database`. */
  template(name: string, make: (url: string) => Promise<void>): Promise<string>;
  /** Runs SQL as the owner of the server, in the database of its maintenance unless another is named. */
  run(text: string, database?: string): Promise<Record<string, unknown>[]>;
}

export type TestDatabase = { readonly url: string; readonly name: string } & AsyncDisposable;
