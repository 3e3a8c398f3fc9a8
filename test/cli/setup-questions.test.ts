import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pc from "picocolors";
import { parse } from "smol-toml";
import { SystemClock } from "../../src/base/clock.ts";
import type { Asker } from "../../src/cli/setup/asker.ts";
import { askForAll } from "../../src/cli/setup/questions.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { eventually, Site } from "../../testbed/front-door.ts";

let site: Site;
let config: string;
beforeEach(() => {
  site = new Site();
  config = join(site.directory, "etc/lintel.toml");
});
afterEach(() => site.remove());

/**
 * `lintel setup` at a terminal, a real one. Each answer is typed once its question, of which a part is given, is shown.
 *
 * @returns all that was shown, and the exit code
 */
async function answered(
  ...answers: [question: string, text: string][]
): Promise<{ shown: string; code: number }> {
  const command = [...site.program, "setup", "--config", config].map((word) => `'${word}'`).join(" ");
  const run = Bun.spawn(
    ["script", "--quiet", "--return", "--command", `stty cols 300; ${command}`, "/dev/null"],
    {
      env: { PATH: `${join(site.directory, "bin")}:/usr/bin:/bin`, HOME: site.home, TERM: "xterm" },
      stdin: "pipe",
      stdout: "pipe",
    },
  );
  let shown = "";
  const reading = (async () => {
    for await (const bytes of run.stdout) shown += new TextDecoder().decode(bytes);
  })();
  let from = 0;
  for (const [question, text] of answers) {
    await eventually(() => {
      const at = shown.indexOf(question, from);
      const prompt = at < 0 ? -1 : shown.indexOf("> ", at);
      if (prompt < 0)
        return run.exitCode === null ? undefined : Promise.reject(new Error(`${question}:\n${shown}`));
      from = prompt;
      return true;
    }, question);
    run.stdin.write(`${text}\n`);
    run.stdin.flush();
  }
  const code = await run.exited;
  await reading;
  return { shown, code };
}

test("a terminal is asked for all that is needed, again where an answer is of no use, and the token is tried", async () => {
  const data = join(site.directory, "central");
  const { origin } = await site.central("--data", data, "--tls", "self-signed");
  const made = await site.answer(
    "token",
    "create",
    "home",
    "--scope",
    "sync",
    "--home",
    "12",
    "--json",
    "--data",
    data,
  );
  const { tls } = await site.answer("status", "--json", "--data", data);
  const { shown, code } = await answered(
    ["number of the home", "twelve"],
    ["a whole number, 1 or above", "12"],
    ["time zone", "Berlin"],
    ["there is no such time zone", "Europe/Berlin"],
    ["Zigbee stick", "the blue one"],
    ["none", "tcp://127.0.0.1:1"],
    ["Its type", "ember"],
    ["Central's address", origin],
    ["The token", "nobody.knows-it"],
    [`Its SHA-256 fingerprint is ${tls.fingerprint}`, "yes"],
    ["Central's address", origin],
    ["The token", "nobody.knows-it"],
    ["refuses the token", origin],
    ["The token", made.token],
    ["central takes it", "the folder"],
    ["an address such as", `${origin}/releases`],
    ["Write", "yes"],
  );
  expect([code, shown.includes(made.token)]).toEqual([0, false]);
  expect(shown).toContain("Ask whoever runs central for the fingerprint that lintel status shows there");
  expect(parse(readFileSync(config, "utf8"))).toEqual({
    data: "/var/lib/lintel",
    home: { id: 12, timezone: "Europe/Berlin" },
    api: { listen: "0.0.0.0:8080", tls: "self-signed" },
    zigbee: { port: "tcp://127.0.0.1:1", adapter: "ember" },
    upload: {
      url: origin,
      token_file: join(site.directory, "etc/upload-token"),
      certificate: join(site.directory, "etc/central.pem"),
    },
    update: { manifest: `${origin}/releases` },
  });
  expect(readFileSync(join(site.directory, "etc/upload-token"), "utf8").trim()).toBe(made.token);
});

test("two Zigbee sticks are told before the question which one it is, and one is not", async () => {
  const stick = { title: "Sonoff ZBDongle-E", driver: "zigbee", adapter: "ember" } as const;
  const ports = ["a", "b"].map((name) => ({ path: `/dev/serial/by-id/${name}`, stick }));
  for (const count of [1, 2]) {
    const lines: string[] = [];
    const asker = {
      ask: async (_: string, read: (text: string) => unknown, { usual = "12" } = {}) => read(usual),
      yes: async () => true,
    };
    const terminal = { print: (line: string) => lines.push(line), colours: pc.createColors(false) };
    const { values } = await askForAll({
      asker: asker as unknown as Asker,
      terminal: terminal as unknown as Terminal,
      clock: new SystemClock(),
      configuration: config,
      before: {},
      ports: ports.slice(0, count),
    });
    expect(values["zigbee"]).toEqual({ port: "/dev/serial/by-id/a", adapter: "ember" });
    expect(
      lines.filter((line) => /2 Zigbee sticks are plugged in.*unplug the other/.test(line)),
    ).toHaveLength(count - 1);
  }
});

test("a box that is set up is asked about first, with what it has as the usual answers", async () => {
  const first: [string, string][] = [
    ["number of the home", "12"],
    ["time zone", ""],
    ["Zigbee stick", "none"],
    ["Central's address", "none"],
    ["programme's releases", ""],
  ];
  const no = await answered(...first, ["Write", "no"]);
  expect([no.code, existsSync(config)]).toEqual([0, false]);
  await answered(...first, ["Write", ""]);
  const before = readFileSync(config, "utf8");
  expect((await answered(["Set this box up anew", ""])).shown).toContain("Nothing was changed.");
  const again = await answered(
    ["Set this box up anew", "yes"],
    ["number of the home", ""],
    ...first.slice(1),
    ["Write", "yes"],
  );
  expect([again.code, readFileSync(config, "utf8")]).toEqual([0, before]);
  expect(again.shown).toContain("was so already: nothing changed");
});

test("a token that is typed as soon as its question is there is not shown, however slow the machine is", async () => {
  mkdirSync(join(site.directory, "bin"));
  writeFileSync(join(site.directory, "bin/stty"), '#!/bin/sh\nsleep 0.5\nexec /usr/bin/stty "$@"\n', {
    mode: 0o755,
  });
  const { shown, code } = await answered(
    ["number of the home", "12"],
    ["time zone", ""],
    ["Zigbee stick", "none"],
    ["Central's address", "https://127.0.0.1:1"],
    ["The token", "nobody.knows-it"],
    ["Keep it untried", "yes"],
    ["programme's releases", ""],
    ["Write", "no"],
  );
  expect([code, shown.includes("nobody.knows-it")]).toEqual([0, false]);
});

test("without a terminal it asks nothing and says what to give", async () => {
  const { code, said } = await site.lintel("setup", "--config", config);
  expect([code, existsSync(config)]).toEqual([2, false]);
  expect(said).toContain("lintel setup needs a terminal to ask its questions: give --file FILE");
});

test("settings of a line stay with the stick that has them", async () => {
  mkdirSync(join(site.directory, "etc"));
  const zigbee = { port: "tcp://127.0.0.1:1", adapter: "ember", baudrate: 230_400, rtscts: true };
  const lines = Object.entries(zigbee).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  writeFileSync(config, ["[home]", "id = 12", 'timezone = "UTC"', "[zigbee]", ...lines, ""].join("\n"));
  const stickIs = async (port: string) => {
    await answered(
      ["Set this box up anew", "yes"],
      ["number of the home", ""],
      ["time zone", ""],
      ["Zigbee stick", port],
      ["Its type", ""],
      ["Central's address", "none"],
      ["programme's releases", ""],
      ["Write", "yes"],
    );
    return parse(readFileSync(config, "utf8"))["zigbee"];
  };
  expect(await stickIs("")).toEqual(zigbee);
  expect(await stickIs("tcp://127.0.0.1:2")).toEqual({ port: "tcp://127.0.0.1:2", adapter: "ember" });
});
