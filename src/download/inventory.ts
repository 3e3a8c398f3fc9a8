import { OperatorError } from "../errors.ts";
import { kindNames } from "../kinds.ts";
import { Item } from "../records/items.ts";
import { gathered, type InterfaceReader } from "./answers.ts";
import type { Pseudonyms } from "./pseudonyms.ts";

/**
 * Items of the inventory, of every kind.
 *
 * @param pseudonyms learns who they are; by them items can be named too
 * @param names of those that are asked for; absent: all
 * @throws OperatorError where one of them is not there
 */
export async function inventory(
  answers: InterfaceReader,
  names: readonly string[] | undefined,
  pseudonyms?: Pseudonyms | undefined,
): Promise<Item[]> {
  const paths = kindNames.map((kind) => `/inventory/${kind}`);
  const items = (await gathered(answers, paths, Item)) as Item[];
  pseudonyms?.learn(items);
  const isNamed = ({ itemname }: Item, name: string) =>
    itemname === name || pseudonyms?.itemName(itemname) === name;
  const unknown = names?.filter((name) => !items.some((item) => isNamed(item, name))) ?? [];
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
  pseudonyms?.use();
  return items.filter((item) => names?.some((name) => isNamed(item, name)) ?? true);
}

const named_max = 20;
