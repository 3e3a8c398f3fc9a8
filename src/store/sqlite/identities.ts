import { parseConflict, parseIdentity } from "../../identity.ts";
import { readsOf } from "../core/store.ts";
import { arrays, rowsOfAll, type Work } from "../core/work.ts";
import type { IdentityNotes, IdentityStore } from "../identity-store.ts";
import type { SqliteParts } from "./serve.ts";

/** The identities of a gateway's store, by whoever writes it. */
export function identityStoreOn({ database, writer }: SqliteParts): IdentityStore {
  return {
    identities: readsOf(database).snapshot(identities),
    settleConflict: (settling) => writer.ask("settleConflict", settling),
  };
}

function* identities(): Work<IdentityNotes> {
  const [known, conflicts] = yield* rowsOfAll(
    arrays<[string]>("SELECT identity FROM identities ORDER BY address, typename"),
    arrays<[string]>("SELECT conflict FROM identity_conflicts ORDER BY address"),
  );
  return {
    identities: known.flatMap(([text]) => parseIdentity(text) ?? []),
    conflicts: conflicts.flatMap(([text]) => parseConflict(text) ?? []),
  };
}
