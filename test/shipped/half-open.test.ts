import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { eventually, lintel, type RunningServer, Site } from "../../testbed/front-door.ts";
import { nightly } from "../../testbed/nightly.ts";
import { Crowd } from "./crowd.ts";

/** Files that the process may have open: the bound that many shells give. */
const files_max = 1024;
/** Of that the program allows itself these connections, and of one client these. */
const connections_max = 256;
const connections_of_client_max = 64;

let site: Site;
let crowd: Crowd | undefined;

afterEach(async () => {
  crowd?.stop();
  await site.remove();
});

function limited(): Site {
  return new Site({ program: ["sh", "-c", `ulimit -n ${files_max} && exec "$0" "$@"`, lintel] });
}

const openFiles = ({ process }: RunningServer) => readdirSync(`/proc/${process.pid}/fd`).length;

/** Asks again and again, each time on a connection of its own, while the crowd comes and then stays. */
async function answers(server: RunningServer, token: string): Promise<number[]> {
  const statuses: number[] = [];
  const ask = async () => {
    const headers = { authorization: `bearer ${token}`, accept: "application/json", connection: "close" };
    // However long it takes: a machine that is busy with the crowd lets a client wait, and a server that is shut never answers.
    const response = await fetch(`${server.url}/items`, { headers });
    await response.text();
    statuses.push(response.status);
  };
  const gathered = crowd?.gathered().then(() => true);
  for (;;) {
    await ask();
    if (await Promise.race([gathered, false])) break;
  }
  for (let asked = 0; asked < 10; asked++) await ask();
  return statuses;
}

const request = "GET /v0.9/items HTTP/1.1\r\nHost: a\r\n";
/** More than the process may have open. */
const count = nightly ? 4_300 : 1_500;
const crowds = [
  ["say nothing", { count, addresses: 1, first: "" }],
  ["begin a request line", { count, addresses: 1, first: "GET /v0.9/it" }],
  ["begin a header", { count, addresses: 1, first: `${request}X-Slow: a` }],
  ["begin a body", { count, addresses: 1, first: `POST${request.slice(3)}Content-Length: 60000\r\n\r\n` }],
  [
    "begin a header at 200 addresses",
    { count: nightly ? 10_000 : count, addresses: 200, first: `${request}X-Slow: a` },
  ],
] as const;
/** By day central has those that have sent most, of one client and of many; a gateway has those that say nothing. */
const crowdsOfCentral = nightly ? crowds : crowds.slice(3);

describe("connections without a request shut nobody out", () => {
  test.each([...crowdsOfCentral])("central answers while as many as come %s", async (_, options) => {
    site = limited();
    const server = await site.central("--data", site.data, "--metrics");
    const token = await site.token();
    crowd = new Crowd({ port: Number(new URL(server.url).port), ...options });
    expect(new Set(await answers(server, token))).toEqual(new Set([200]));
    await eventually(async () => {
      const metrics = await (await server.get(`${server.origin}/metrics`, token)).text();
      const closed = Number(/^lintel_connections_closed_total (\d+)$/m.exec(metrics)?.[1]);
      return closed >= options.count - connections_max ? true : undefined;
    }, "the number of those that were closed");
    crowd.stop();
    await server.stop();
    const lines = (await server.process.said()).split("\n").filter((line) => line.includes("http: closed"));
    expect(lines[0]).toMatch(
      /warn {2}http: closed \d+ connections on which no request was under way, one of them from 127\.1\.\d\.\d+: there is room for 256, and for 64 of one client$/,
    );
    expect(lines.length).toBeLessThanOrEqual(2);
  });

  test("a gateway answers, keeps to its bounds, and lintel status shows what it closed", async () => {
    site = limited();
    site.configure();
    const server = await site.run();
    const token = await site.token();
    const before = openFiles(server);
    crowd = new Crowd({ port: Number(new URL(server.url).port), count, addresses: 1, first: "" });
    expect(new Set(await answers(server, token))).toEqual(new Set([200]));
    const unix = join(site.data, "control.sock");
    // Those that are still on their way when the crowd is stopped need not be closed by the gateway.
    await eventually(async () => {
      // Not by the command, which would have to start again and again beside the crowd.
      const status = await (await fetch("http://gateway/status", { unix })).json();
      return (status as { connections_closed: number }).connections_closed >= count - connections_max
        ? true
        : undefined;
    }, "the number of those that were closed");
    const { connections_closed } = await site.answer("status", "--json", "--config", site.config);
    expect(connections_closed).toBeGreaterThanOrEqual(count - connections_max);
    crowd.stop();
    const within = before + connections_max;
    await eventually(() => (openFiles(server) <= within ? true : undefined), "no more than the bounds allow");
  });
});

test("a request under way is not cut off, however many come after it, and idle connections beyond the bounds are", async () => {
  site = limited();
  const server = await site.central("--data", site.data);
  const token = await site.token("--scope", "sync", "--home", "12");
  const port = Number(new URL(server.url).port);
  const before = openFiles(server);
  const upload = connect({ host: "127.0.0.1", port });
  let answer = "";
  upload.on("data", (data) => {
    answer += data;
  });
  const body = JSON.stringify({ days: [] });
  upload.write(
    `POST /sync/v1/verify HTTP/1.1\r\nHost: a\r\nAuthorization: bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  );
  await eventually(() => (openFiles(server) > before ? true : undefined), "the connection of the upload");
  crowd = new Crowd({ port, count: 1_200, addresses: 1, first: "" });
  await crowd.gathered();
  const still = await eventually(
    () => (openFiles(server) <= before + connections_of_client_max + 1 ? openFiles(server) : undefined),
    "no more connections than the bounds allow",
  );
  expect(still).toBeGreaterThan(before);
  expect(answer).toBe("");
  crowd.stop();
  upload.write(body.slice(5));
  expect(await eventually(() => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1], "the answer")).toMatch(
    /^(200|4\d\d)$/,
  );
  upload.destroy();
});
