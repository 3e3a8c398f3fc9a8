import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorTable } from "../../../src/web/server/http-errors.ts";
import { type Acceptance, readAcceptEncoding } from "../../../src/web/server/responses.ts";
import { append, now_ms, reading, type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
let path = "";
beforeAll(async () => {
  serving = await serve();
  const [item] = await append(
    serving.store,
    Array.from({ length: 1_000 }, (_, event) =>
      reading(
        { kind: "wirelesssensors", address: "01:02" },
        "wirelesssensor_events",
        now_ms - event * 7_000,
        {
          event,
        },
      ),
    ),
  );
  path = `/items/wirelesssensors/${item}/events`;
});
afterAll(() => serving[Symbol.asyncDispose]());

async function ask(query: string, acceptEncoding: string) {
  const response = await fetch(`${serving.api.url}${path}${query}`, {
    headers: {
      Authorization: `bearer ${serving.tokens.read}`,
      Accept: "application/json",
      "Accept-Encoding": acceptEncoding,
    },
    decompress: false,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, coding: response.headers.get("content-encoding"), bytes, response };
}

test("a page comes compressed to who takes that, first and repeated, and is the same page", async () => {
  const plain = await ask("", "identity");
  expect(plain.coding).toBeNull();
  for (const acceptEncoding of ["gzip, deflate, br", "gzip, deflate, br, zstd", "gzip, deflate, br"]) {
    const { coding, bytes, response } = await ask("", acceptEncoding);
    expect(coding).toBe(acceptEncoding.includes("zstd") ? "zstd" : "gzip");
    expect(bytes.length * 3).toBeLessThan(plain.bytes.length);
    const text =
      coding === "zstd" ? Bun.zstdDecompressSync(bytes) : Bun.gunzipSync(bytes as Uint8Array<ArrayBuffer>);
    expect(Buffer.from(text).equals(plain.bytes)).toBe(true);
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(response.headers.get("content-length")).toBe(String(bytes.length));
  }
});

test("a body that fits a packet is left alone, unless that is refused", async () => {
  expect((await ask("?limit=3", "gzip, zstd")).coding).toBeNull();
  expect((await ask("?limit=3", "gzip, identity;q=0")).coding).toBe("gzip");
});

test("who takes neither what we have nor a body as it is, is told so", async () => {
  for (const acceptEncoding of ["identity;q=0", "br, *;q=0", "zstd;q=0, gzip;q=0, identity;q=0"]) {
    const { status, bytes } = await ask("", acceptEncoding);
    expect(status).toBe(400);
    expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({
      code: errorTable.coding_unsuitable.code,
    });
  }
});

const readings: [header: string | undefined, expected: Acceptance][] = [
  [undefined, { identity: true }],
  ["", { identity: true }],
  ["identity", { identity: true }],
  ["br, deflate", { identity: true }],
  ["gzip", { coding: "gzip", identity: true }],
  ["x-gzip", { coding: "gzip", identity: true }],
  ["GZIP ;\tQ=0.5", { coding: "gzip", identity: true }],
  ["gzip, zstd", { coding: "zstd", identity: true }],
  ["gzip;q=0.9, zstd;q=0.8", { coding: "gzip", identity: true }],
  ["gzip;q=0, zstd;q=0.001", { coding: "zstd", identity: true }],
  ["gzip;q=0", { identity: true }],
  ["gzip;q=0.5, identity;q=0.8", { identity: true }],
  ["gzip, identity;q=0", { coding: "gzip", identity: false }],
  ["gzip, *;q=0", { coding: "gzip", identity: false }],
  ["*", { coding: "gzip", identity: true }],
  ["*, gzip;q=0", { identity: true }],
  ["*;q=0", { identity: false }],
  ["*;q=0, identity", { identity: true }],
  ["gzip;q=1.5, zstd;q=x, ;;, gzip gzip", { identity: true }],
];

test.each(readings)("Accept-Encoding: %p is read as %p", (header, expected) => {
  expect(readAcceptEncoding(header)).toEqual(expected);
});
