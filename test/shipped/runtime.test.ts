import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type MachineSize, Site } from "../../testbed/front-door.ts";

let site: Site | undefined;
afterEach(() => site?.remove());

/** Settings of JavaScriptCore in the environment of a running gateway. */
async function settingsOn(machine: MachineSize, env: Readonly<Record<string, string>> = {}) {
  site = new Site({ machine });
  site.configure();
  const { process } = await site.run(env);
  const variables = readFileSync(`/proc/${process.pid}/environ`, "utf8").split("\0");
  return variables.filter((variable) => variable.startsWith("BUN_JSC_")).sort();
}

test("a gateway has a compiler where the machine has memory for one, and a small heap where it has not", async () => {
  const large = await settingsOn("large");
  expect(large).toContain("BUN_JSC_useFTLJIT=0");
  expect(large).toContain("BUN_JSC_useGenerationalGC=0");
  expect(large.filter((setting) => /BaselineJIT|MiniVM/.test(setting))).toEqual([]);
  await site?.remove();
  const small = await settingsOn("small");
  expect(small).toContain("BUN_JSC_useBaselineJIT=0");
  expect(small).toContain("BUN_JSC_forceMiniVMMode=1");
});

test("a setting that is in the environment already stays", async () => {
  expect(await settingsOn("large", { BUN_JSC_useFTLJIT: "1" })).toContain("BUN_JSC_useFTLJIT=1");
});
