import { type TObject, type TSchema, Type } from "@sinclair/typebox";

/**
 * The newest version of the interface, as the parts of a download ask it: a server over HTTP (interface-client.ts), or a store in this
 * process through the same endpoints. So there is one code for what is in a download, wherever it is from.
 */
export interface Answers {
  /**
   * @param path below the version, percent-encoded
   * @param query with its `?`, or empty
   * @param schema what the body must be
   * @returns undefined where there is no such path or record; `gone` where the query goes on from what is not known any more
   */
  get<Body>(path: string, query: string, schema: TSchema): Promise<Answer<Body> | "gone" | undefined>;
}

/** An answer of the interface, with the query of the page that follows it. */
export interface Answer<Body> {
  readonly body: Body;
  /** With its `?`; undefined on the last page. */
  readonly next: string | undefined;
}

export type ListRecord = Readonly<Record<string, unknown>>;

/** Pages of a list, from the one with this query on; none where there is no such path. */
export async function* pagesOf(
  answers: Answers,
  path: string,
  schema: TObject,
  first = "",
): AsyncGenerator<readonly ListRecord[]> {
  const array = arrayOf(schema);
  for (let query: string | undefined = first; query !== undefined; ) {
    const answer: Awaited<ReturnType<typeof answers.get<readonly ListRecord[]>>> = await answers.get(
      path,
      query,
      array,
    );
    if (answer === undefined || answer === "gone") return;
    yield answer.body;
    query = answer.next;
  }
}

function arrayOf(schema: TObject) {
  const known = arrays.get(schema) ?? Type.Array(schema);
  arrays.set(schema, known);
  return known;
}

const arrays = new WeakMap<TObject, ReturnType<typeof Type.Array>>();
