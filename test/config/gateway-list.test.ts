import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OperatorError } from "../../src/base/errors.ts";
import { readGatewayList } from "../../src/config/gateway-list.ts";

const directory = mkdtempSync(join(tmpdir(), "lintel-list-"));
const file = join(directory, "gateways.toml");
afterAll(() => rmSync(directory, { recursive: true }));

function read(toml: string) {
  writeFileSync(file, toml);
  return readGatewayList(file);
}

function faultOf(toml: string): string {
  try {
    read(toml);
  } catch (thrown) {
    if (thrown instanceof OperatorError) return thrown.message.replaceAll(`${directory}/`, "");
    throw thrown;
  }
  return "it was read";
}

const gateway = (home: number, more = "") =>
  `[[gateway]]\nhome = ${home}\nurl = "http://10.8.0.${home}:8080"\ntoken_file = "token-${home}"\n${more}`;

test("a list has an interval and a gateway for each home; paths are meant from the file", () => {
  expect(read(`every = "30m"\n${gateway(12)}\n${gateway(13, 'certificate = "/etc/13.pem"')}`)).toEqual({
    every_ms: 30 * 60_000,
    gateways: [
      {
        home: 12,
        url: "http://10.8.0.12:8080",
        token_file: join(directory, "token-12"),
        place: `${file} line 2`,
      },
      {
        home: 13,
        url: "http://10.8.0.13:8080",
        token_file: join(directory, "token-13"),
        certificate: "/etc/13.pem",
        place: `${file} line 7`,
      },
    ],
    warnings: [],
  });
  expect(read("")).toEqual({ every_ms: 3_600_000, gateways: [], warnings: [] });
});

test("as many gateways as one central reads are found, each with its line", () => {
  const listed = Array.from({ length: 10_000 }, (_, index) =>
    gateway(index + 1).replace("10.8.0.", "gateway-"),
  );
  const { gateways } = read(listed.join("\n"));
  expect(gateways).toHaveLength(10_000);
  expect(gateways.at(-1)?.place).toBe(`${file} line ${9_999 * 5 + 1}`);
});

test("a token that everybody can read is warned of", () => {
  writeFileSync(join(directory, "token-12"), "a.b");
  chmodSync(join(directory, "token-12"), 0o644);
  expect(read(gateway(12)).warnings).toEqual([
    expect.stringMatching(/gateways\.toml line 1: .*token-12 can be read by every user of this machine/),
  ]);
});

test.each([
  ["evry = '1h'", 'gateways.toml line 1: unknown key "evry": did you mean "every"?'],
  [
    "every = '2d'",
    'gateways.toml line 1: every is "2d": it must be a time from one minute to a day, such as "30m" or "1h"',
  ],
  ["every = '0m'", 'gateways.toml line 1: every is "0m"'],
  ["every = 60", "gateways.toml line 1: every is 60"],
  [
    `${gateway(1)}\n${gateway(2, "tokenfile = 'x'")}`,
    'gateways.toml line 10: unknown key "tokenfile" in [[gateway]]: did you mean "token_file"?',
  ],
  [
    `${gateway(1)}\n[[gateway]]\nhome = 2`,
    "gateways.toml line 6: [[gateway]] has no url: add url = … (an address such as",
  ],
  [
    `${gateway(1)}\n[[gateway]]\nhome = "2"`,
    'gateways.toml line 7: gateway.home is "2": it must be an integer from 1 (the number of the home, 1 or above)',
  ],
  [`[[gateway]]\nurl = "10.8.0.1"`, 'gateways.toml line 2: gateway.url is "10.8.0.1": it must be an address'],
  [
    `${gateway(1)}\n${gateway(1).replace("10.8.0.1", "10.8.0.2")}`,
    "gateways.toml line 6: home 1 is listed already (gateways.toml line 1): a home has one gateway",
  ],
  [
    `${gateway(1)}\n${gateway(2).replace("10.8.0.2", "10.8.0.1")}`,
    "gateways.toml line 6: http://10.8.0.1:8080/ is listed already",
  ],
  ["[gateway]\nhome = 1", "gateways.toml line 1: gateway must be a list of sections: write [[gateway]]"],
  ["gateway = [1]", "gateways.toml line 1: gateway must be a section"],
  ["[[gateway]", "gateways.toml line 1, column"],
])("a fault names file, line and key, and says what to do: %j", (toml, said) => {
  expect(faultOf(toml)).toContain(said);
});

test("a list that is not there is said with the option that names another", () => {
  expect(() => readGatewayList(join(directory, "none.toml"))).toThrow(
    /there is no gateway list file .*none\.toml: create it or name another with --gateways FILE/,
  );
});
