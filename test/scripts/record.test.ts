import { expect, test } from "bun:test";
import { placeWith } from "../../scripts/figure-places.ts";
import { type Run, withFigures } from "../../scripts/record.ts";

const document = `# Title

<!-- figures of trials life --seeds -->
| old |

\`./scripts/trials life --seeds 1..2\`: once.
<!-- end of figures -->

Between.

<!-- figures of trials life --planted -->
<!-- end of figures -->
`;
const run: Run = {
  command: "trials life --planted",
  table: ["| patch | $& minutes |", "| --- | --- |", "| one | 0.4 |"],
  exitCode: 0,
  interrupted: false,
  circumstances: "2026-11-23, 2 cores",
};

test("the table of a run takes the place of the one before, and nothing else changes", () => {
  const planted = withFigures(document, run);
  expect(planted).toBe(
    document.replace("<!-- figures of trials life --planted -->\n<!-- end of figures -->", () =>
      placeWith(
        "trials life --planted",
        `${run.table.join("\n")}\n\n\`./scripts/trials life --planted\`: 2026-11-23, 2 cores.\n`,
      ),
    ),
  );
  expect(withFigures(planted as string, run)).toBe(planted);
  const seeds = withFigures(document, { ...run, command: "trials life --seeds 3..9", exitCode: 1 });
  expect(seeds).not.toContain("| old |");
  expect(seeds).toContain(
    "`./scripts/trials life --seeds 3..9`: 2026-11-23, 2 cores. It ended with 1: not all of it holds.\n<!-- end",
  );
  const interrupted = withFigures(document, { ...run, interrupted: true });
  expect(interrupted).toContain(
    "2 cores. It was interrupted: the figures are of what had run by then.\n<!-- end",
  );
});

test("a run without a place is not put anywhere", () => {
  expect(withFigures(document, { ...run, command: "trials life" })).toBeUndefined();
  expect(withFigures(document, { ...run, command: "trials life --plantedly" })).toBeUndefined();
});
