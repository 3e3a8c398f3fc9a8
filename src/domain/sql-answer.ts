/** A table that a query over central's mirror may name. */
export interface SqlTable {
  readonly name: string;
  readonly title: string;
  readonly columns: readonly { readonly name: string; readonly meaning: string; readonly unit: string }[];
  /** A query that shows what is in it. */
  readonly example: string;
}

/** The rows that a query has given, as text; or why there are none, for whoever wrote it. */
export type SqlAnswer =
  | {
      readonly columns: readonly string[];
      readonly rows: readonly (readonly (string | null)[])[];
      /** There are more rows than were asked for. */
      readonly more: boolean;
      readonly took_ms: number;
    }
  | {
      readonly fault: string;
      /** The same query will do in a while. */
      readonly busy?: true;
    };

/** Characters of a query. */
export const query_max = 4_000;
