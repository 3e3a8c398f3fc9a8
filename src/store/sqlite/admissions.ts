import type { Kind } from "../../kinds.ts";
import type { AdmissionStore, Admissions, Admitted } from "../admission-store.ts";
import { readsOf } from "../core/store.ts";
import { objects, rowsOfAll, type Work } from "../core/work.ts";
import type { SqliteParts } from "./serve.ts";

/** The admissions of a gateway's store, by whoever writes it. */
export function admissionStoreOn({ database, writer }: SqliteParts): AdmissionStore {
  return {
    admissions: readsOf(database).snapshot(admissions),
    admit: (admitted) => writer.ask("admit", admitted),
    forgetDevice: (address) => writer.ask("forgetDevice", address),
  };
}

function* admissions(): Work<Admissions> {
  const [inventory, admitted] = yield* rowsOfAll(
    objects<{ readonly kind: Kind; readonly address: string }>(
      "SELECT typename AS kind, address FROM items WHERE address IS NOT NULL AND NOT provisional",
    ),
    objects<Admitted>("SELECT address, admitted_ms, reason FROM admitted ORDER BY address"),
  );
  return { inventory, admitted };
}
