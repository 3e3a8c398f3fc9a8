import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";

/** Faults of a page that keep people out who do not see, hear or move as others do, as axe finds them: those that are serious or worse. */
export async function faultsForAll(page: Page): Promise<readonly string[]> {
  // By hand: the policy of the pages lets no script tag be added.
  await page.evaluate(await readFile(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8"));
  const { violations } = (await page.evaluate("axe.run()")) as { violations: readonly Violation[] };
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}
