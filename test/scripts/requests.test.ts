import { expect, test } from "bun:test";
import { join } from "node:path";

const script = join(import.meta.dir, "../../scripts/trial-programs/with-source/requests/random.ts");

test("the trial of requests runs, finds nothing wrong, and leaves no server behind", async () => {
  const trial = Bun.spawn([process.execPath, script, "--requests", "400", "--seed", "3"], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [text, faults, code] = await Promise.all([
    new Response(trial.stdout).text(),
    new Response(trial.stderr).text(),
    trial.exited,
  ]);
  expect({ code, faults }).toEqual({ code: 0, faults: "" });
  expect(text).toContain("| random requests | 400 |");
  const server = Number(/process (\d+)/.exec(text)?.[1]);
  expect(() => process.kill(server, 0)).toThrow("ESRCH");
});
