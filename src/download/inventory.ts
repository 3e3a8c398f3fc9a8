import { OperatorError } from "../errors.ts";
import { kindNames } from "../kinds.ts";
import { Item } from "../records/items.ts";
import { type Answers, pagesOf } from "./answers.ts";

/**
 * Items of the inventory, of every kind.
 *
 * @param names of those that are asked for; absent: all
 * @throws OperatorError where one of them is not there
 */
export async function inventory(answers: Answers, names: readonly string[] | undefined): Promise<Item[]> {
  const items: Item[] = [];
  for (const kind of kindNames)
    for await (const page of pagesOf(answers, `/inventory/${kind}`, Item)) items.push(...(page as Item[]));
  const unknown = names?.filter((name) => !items.some(({ itemname }) => itemname === name)) ?? [];
  if (unknown.length > 0)
    throw new OperatorError(
      `the inventory has no item ${unknown.join(", ")}`,
      `it has ${
        items
          .slice(0, named_max)
          .map(({ itemname }) => itemname)
          .join(", ") || "none"
      }${items.length > named_max ? ", …" : ""}`,
    );
  return items.filter(({ itemname }) => names === undefined || names.includes(itemname));
}

const named_max = 20;
