import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { remoteRequestNames, remoteRequests, remoteRow } from "../../src/domain/remote-request.ts";

test("docs/remote.md has the table of requests as it is", () => {
  const text = readFileSync(new URL("../../docs/remote.md", import.meta.url), "utf8");
  const rows = remoteRequestNames.map((name) => {
    const argument = remoteRow(name)?.argument?.name.toUpperCase();
    return `| \`${[name, argument].filter(Boolean).join(" ")}\` | ${remoteRequests[name].does} |`;
  });
  expect(text).toContain(`| request | the box |\n|---|---|\n${rows.join("\n")}\n`);
});

test("no request takes a word that could be a path, an option or a command", () => {
  const words = [
    "..",
    "/etc/passwd",
    "-rf",
    "--config",
    "a b",
    "$(id)",
    "`id`",
    "a;b",
    "a\nb",
    "a\u0000",
    "http://x",
    "%2e",
  ];
  for (const name of remoteRequestNames)
    for (const word of words)
      expect([name, word, remoteRow(name)?.argument?.form.test(word) ?? false]).toEqual([name, word, false]);
  expect(remoteRow("constructor")).toBeUndefined();
});
