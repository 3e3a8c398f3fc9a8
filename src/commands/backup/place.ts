import { OperatorError } from "../../errors.ts";
import { type StoreOptions, storePlace } from "../store-options.ts";

/** The data directory that options name. @throws OperatorError where they name a PostgreSQL, which has better means of its own */
export function directoryToCopy(options: StoreOptions): string {
  const place = storePlace(options);
  if ("directory" in place) return place.directory;
  throw new OperatorError(
    `${withoutPassword(place.database)} is a PostgreSQL database, which this command neither copies nor brings back`,
    "back it up with `pg_dump --format=custom --file=lintel.dump URL`, beside the running server, and bring it back with `createdb` and `pg_restore --dbname=URL lintel.dump`",
  );
}

function withoutPassword(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return "what --database names";
  parsed.password = "";
  return parsed.href;
}
