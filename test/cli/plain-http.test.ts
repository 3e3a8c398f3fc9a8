import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Site } from "../../testbed/front-door.ts";

let site: Site;
beforeEach(() => {
  site = new Site();
});
afterEach(() => site.remove());

const warned = (text: string) => text.split("\n").filter((line) => line.includes("in the open"));

test("a gateway that others reach by plain HTTP says so at its start, in its status and to lintel doctor", async () => {
  site.configure({ listen: "0.0.0.0:0" });
  const gateway = await site.run();
  const line = expect.stringContaining(
    `${site.config}: [api] serves plain HTTP on 0.0.0.0:0, where tokens and people's data travel in the open: set tls = "self-signed" in [api]`,
  );
  const on = ["--config", site.config];
  expect(warned((await site.lintel("status", ...on)).out)).toEqual([line]);
  expect((await site.answer("status", "--json", ...on)).warnings).toEqual([line]);
  expect(warned((await site.lintel("doctor", ...on)).out)).toEqual([line]);
  await gateway.stop();
  expect(warned(await gateway.process.said())).toEqual([line]);
});

test("so does central", async () => {
  const open = await site.serve(["central", "--port", "0", "--json", "--data", site.data]);
  await open.stop();
  expect(warned(await open.process.said())).toEqual([
    expect.stringContaining(
      "central serves plain HTTP on 0.0.0.0:0, where tokens and people's data travel in the open: give --tls self-signed",
    ),
  ]);
  const own = await site.central("--data", site.data);
  await own.stop();
  expect(warned(await own.process.said())).toEqual([]);
});

test("the configuration to start from serves TLS, by a certificate that curl is given", async () => {
  const example = readFileSync(new URL("../../systemd/lintel.toml", import.meta.url), "utf8");
  const text = example
    .replace('data = "/var/lib/lintel"', `data = "${site.data}"`)
    .replace('listen = "0.0.0.0:8080"', 'listen = "0.0.0.0:0"');
  writeFileSync(site.config, text);
  const gateway = await site.run();
  expect(gateway.url).toStartWith("https://");
  const words = ["--silent", "--cacert", join(site.data, "tls-certificate.pem")];
  const headers = ["-H", `Authorization: bearer ${await site.token()}`, "-H", "Accept: application/json"];
  const curl = Bun.spawnSync(["curl", ...words, ...headers, `${gateway.url}/items`]);
  expect(JSON.parse(curl.stdout.toString())).toBeArray();
  await gateway.stop();
  expect(warned(await gateway.process.said())).toEqual([]);
});
