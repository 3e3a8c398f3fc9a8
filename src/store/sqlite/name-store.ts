import type { NameStore } from "../given-names.ts";
import type { SqliteParts } from "./serve.ts";

/** Gives names in a gateway's store, by whoever writes it. */
export function nameStoreOn({ writer }: SqliteParts): NameStore {
  return {
    nameItem: (giving) => writer.ask("nameItem", giving),
    replaceItem: (replacing) => writer.ask("replaceItem", replacing),
  };
}
