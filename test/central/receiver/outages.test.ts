import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownServer } from "../../../testbed/postgres/own-server.ts";
import { notOurs } from "../../../testbed/postgres/server.ts";
import { openCentral } from "../../store/postgres/temporary-central.ts";
import { mountSmall, mountsAllowed } from "../../store/sqlite/mount.ts";
import { gatewayOf, type Receiving, receive } from "./receiving.ts";

const outageLines = ({ lines }: Receiving) =>
  lines.filter((line) => /^(error|info) +http: /.test(line)).map((line) => line.replace(/\d+/g, "n"));

test.skipIf(!mountsAllowed)(
  "a full disk is 507 with when to come back, readers go on, nothing is lost, and the log has two lines",
  async () => {
    using mount = mountSmall({ bytes: 4_000_000 });
    const ballast = join(mount.path, "ballast");
    writeFileSync(ballast, new Uint8Array(1_700_000));
    await using receiving = await receive({ directory: join(mount.path, "data") });
    const gateway = gatewayOf(12, 60_000);
    const headers = {
      authorization: `bearer ${await receiving.token("read")}`,
      accept: "application/json",
    };
    let held = 0;
    let full: Response | undefined;
    while (full === undefined && held < 60_000) {
      const answer = await receiving.send(12, gateway.batch(held + 1, held + 2_000));
      if (answer.status === 200) held += 2_000;
      else full = answer;
    }
    expect([full?.status, full?.headers.get("Retry-After"), await full?.json()]).toEqual([
      507,
      "120",
      { code: 50701, message: "The disk is full, nothing was changed: try again in 120 s" },
    ]);
    for (let again = 0; again < 20; again += 1)
      expect((await receiving.send(12, gateway.batch(held + 1, held + 2_000))).status).toBe(507);
    expect((await fetch(`${receiving.central.url}/items`, { headers })).status).toBe(200);
    expect((await receiving.store.held([gateway.epoch]))[0]?.held_seq).toBe(held);
    expect(outageLines(receiving)).toEqual([
      expect.stringContaining("cannot grow: the disk is full: free some space"),
    ]);

    rmSync(ballast);
    const after = await receiving.send(12, gateway.batch(held + 1, held + 2_000));
    expect(await after.json()).toEqual({ held_seq: held + 2_000, taken: 2_000 });
    expect(outageLines(receiving)).toEqual([
      expect.stringContaining("error http: "),
      "info  http: the store works again after n s, in which n requests were refused",
    ]);
  },
);

test.skipIf(notOurs !== "")(
  `a PostgreSQL that is away is 503 with when to come back, whatever is asked, and the log has a line each way${notOurs}`,
  async () => {
    const server = await ownServer();
    await using database = await server.database();
    await using receiving = await receive({ open: () => openCentral(database.url) });
    const gateway = gatewayOf(12, 200);
    expect((await receiving.send(12, gateway.batch(1, 100))).status).toBe(200);
    await receiving.homeToken(13);
    server.stop("immediate");
    try {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => receiving.send(12 + (index % 2), gateway.batch(101, 200))),
      );
      for (const answer of answers) {
        expect([answer.status, answer.headers.get("Retry-After")]).toEqual([503, "15"]);
        expect(((await answer.json()) as { code: number }).code).toBe(50302);
      }
      expect(outageLines(receiving)).toHaveLength(1);
    } finally {
      server.start();
    }
    const answer = await receiving.send(12, gateway.batch(101, 200));
    expect(await answer.json()).toEqual({ held_seq: 200, taken: 100 });
    expect(outageLines(receiving)).toEqual([
      expect.stringMatching(
        /^error http: database .* on n.n.n.n:n .*\(POST requests are refused until then\)$/,
      ),
      "info  http: the store works again after n s, in which n requests were refused",
    ]);
  },
);
