import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Device } from "../../../src/domain/reading.ts";
import { type ApiVersion, versions } from "../../../src/web/api/versions.ts";
import { fill } from "../../../testbed/programme.ts";
import { append, now_ms, reading, type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
beforeAll(async () => {
  serving = await serve();
  await fill(serving.store);
});
afterAll(() => serving[Symbol.asyncDispose]());

type Body = Record<string, unknown>;

function ask(version: string, path: string): Promise<Response> {
  return fetch(new URL(`/v${version}${path}`, serving.api.url), {
    headers: { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" },
  });
}

async function bodyOf<Form = Body[]>(version: string, path: string): Promise<Form> {
  const response = await ask(version, path);
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as Form;
}

/** The versions from one on, and those before it. */
function from(version: ApiVersion): readonly ApiVersion[] {
  return versions.slice(versions.indexOf(version));
}
function below(version: ApiVersion): readonly ApiVersion[] {
  return versions.slice(0, versions.indexOf(version));
}

/** First segment of the paths of items. */
const word = (version: ApiVersion) => (from("0.4").includes(version) ? "items" : "devices");

describe("an endpoint is in every version since the one that introduced it, and 404 in those before", () => {
  test.each([
    ["0.1", "/inventory/scales"],
    ["0.1", "/ITEMS"],
    ["0.1", "/ITEMS/pillboxes/box-polled/status"],
    ["0.2", "/ITEMS/wirelesssensors/wall/events"],
    ["0.3", "/subjects/"],
    ["0.3", "/subjects/1"],
    ["0.3", "/subjects/1/enrollment/projects/"],
    ["0.3", "/subjects/1/enrollment/studies/"],
    ["0.3", "/subjects/1/scheduled/contacts/"],
    ["0.3", "/subjects/1/phone/"],
    ["0.3", "/subjects/1/inventory/"],
    ["0.3", "/subjects/1/contacts/"],
    ["0.3", "/subjects/1/comments/"],
    ["0.3", "/subjects/1/alerts/"],
    ["0.4", "/homes/"],
    ["0.4", "/homes/12"],
    ["0.7", "/issues/"],
    ["0.7", "/issues/1"],
    ["0.7", "/projects/"],
    ["0.7", "/projects/1"],
    ["0.7", "/studies/"],
    ["0.7", "/studies/1"],
    ["0.8", "/ITEMS/pillboxes/box-polled/events"],
    ["0.8", "/ITEMS/scales/scale/weights"],
    ["0.8", "/ITEMS/scales/scale/heart"],
    ["0.8", "/ITEMS/watches/watch/epochs"],
    ["0.9", "/consents/"],
    ["0.9", "/consents/1"],
    ["0.9", "/epochs"],
    ["0.9", "/token"],
    ["0.9", "/homes/12/inventory/"],
    ["0.9", "/homes/12/wirelesssensors/events"],
  ] as const)("from %s on: %s", async (since, path) => {
    for (const version of versions) {
      const { status } = await ask(version, path.replace("ITEMS", word(version)));
      expect([version, status]).toEqual([version, from(since).includes(version) ? 200 : 404]);
    }
  });

  test("devices became items in 0.4: each version has one of the two words", async () => {
    for (const version of versions) {
      const other = word(version) === "items" ? "devices" : "items";
      expect((await ask(version, `/${other}`)).status).toBe(404);
      expect((await ask(version, `/${other}/pillboxes/box-polled/status`)).status).toBe(404);
    }
  });
});

describe("times", () => {
  const times: readonly (readonly [ApiVersion, string, string])[] = [
    ["0.1", "/inventory/wirelesssensors/wall", "currenthomestart"],
    ["0.3", "/subjects/1", "dob"],
    ["0.3", "/subjects/1", "dod"],
  ];

  test("are unix timestamps from 0.4 on, and text of ISO 8601 in GMT before", async () => {
    for (const [since, path, field] of times) {
      const newest = await bodyOf<Body>("0.9", path);
      expect(typeof newest[field]).toBe("number");
      for (const version of from(since)) {
        const value = (await bodyOf<Body>(version, path))[field];
        const text = new Date(Number(newest[field]) * 1000).toISOString().replace(".000Z", "Z");
        expect([version, value]).toEqual([version, below("0.4").includes(version) ? text : newest[field]]);
      }
    }
  });

  test("that are not known are null in every form", async () => {
    for (const version of from("0.3")) expect((await bodyOf<Body>(version, "/subjects/2"))["dob"]).toBeNull();
  });

  test("in records that belong to others have the older form too, and numbers that are no times stay", async () => {
    const [, enrolled] = await bodyOf("0.3", "/subjects/1/enrollment/studies/");
    const [, newest] = await bodyOf("0.4", "/subjects/1/enrollment/studies/");
    const changed = Object.keys(newest ?? {}).filter((name) => newest?.[name] !== enrolled?.[name]);
    expect(changed).toEqual(["studystart", "studystop", "studystatestart", "studystatestop"]);
    expect(Object.keys(enrolled ?? {})).toEqual(Object.keys(newest ?? {}));
  });

  test("as a parameter have the form of the version", async () => {
    const path = "/wirelesssensors/wall/events";
    const at_s = Math.floor(now_ms / 1000);
    const text = new Date(at_s * 1000).toISOString().replace(".000Z", "Z");
    const newest = await bodyOf("0.9", `/items${path}?before=${at_s}`);
    const older = await bodyOf("0.2", `/devices${path}?before=${text}`);
    expect(older.map(({ event }) => event)).toEqual(newest.map(({ event }) => event));
    expect(older.map(({ stamp }) => Date.parse(String(stamp)) / 1000)).toEqual(
      newest.map(({ stamp }) => Number(stamp)),
    );
    for (const [version, value] of [
      ["0.2", at_s],
      ["0.4", text],
    ]) {
      const response = await ask(
        String(version),
        `/${version === "0.2" ? "devices" : "items"}${path}?before=${value}`,
      );
      expect([version, response.status]).toEqual([version, 422]);
      expect(((await response.json()) as Body)["code"]).toBe(42201);
    }
  });
});

describe("version 0.1", () => {
  const path = "/devices/pillboxes/box-polled/status";

  test("lists the oldest first, as 0.2 does the newest", async () => {
    const stamps = (body: Body[]) => body.map(({ stamp, powersource }) => `${stamp} ${powersource}`);
    const oldest = stamps(await bodyOf("0.1", path));
    expect(oldest).toEqual(stamps(await bodyOf("0.2", path)).reverse());
    const seconds = oldest.map((text) => text.split(" ")[0]);
    expect(seconds).toEqual(seconds.toSorted());
    expect(new Set(oldest).size).toBeGreaterThan(10);
  });

  test("has the firmware under its older name, and no broadcast times", async () => {
    const [older] = await bodyOf("0.1", `${path}?limit=1`);
    const [newer] = await bodyOf("0.2", `${path}?limit=1`);
    expect(Object.keys(older ?? {})).toEqual([
      ...[
        "stamp",
        "devicestamp",
        "voltage",
        "powersource",
        "eventcount",
        "batteryseconds",
        "firmware",
        "macaddress",
      ],
    ]);
    expect(older?.["firmware"]).toBe("1.4");
    expect(newer).toMatchObject({ firmwarerevsion: "1.4", nextpanicstart: "2026-11-20T13:00:00Z" });
    expect(newer).not.toHaveProperty("firmware");
  });

  test("has records strictly after `after`, and knows no `before`", async () => {
    const all = await bodyOf("0.1", path);
    const after = String(all[30]?.["stamp"]);
    const later = all.filter(({ stamp }) => String(stamp) > after);
    expect(later.length).toBeGreaterThan(5);
    expect(await bodyOf("0.1", `${path}?after=${after}`)).toEqual(later);
    expect(await bodyOf("0.1", `${path}?after=${after}&skip=2&limit=3`)).toEqual(later.slice(2, 5));
    expect(await bodyOf("0.1", `${path}?before=2000-01-01T00:00:00Z`)).toEqual(all);
    expect(await bodyOf("0.2", `/devices/pillboxes/box-polled/status?before=2000-01-01T00:00:00Z`)).toEqual(
      [],
    );
  });

  test("ends where the newest version does: with the current second", async () => {
    const device: Device = { kind: "pillboxes", address: "00:0d:6f:00:0b:01", subtype: "polled" };
    const name = await box(device, [now_ms - 1, now_ms, Math.floor(now_ms / 1000) * 1000 + 1000]);
    expect(await bodyOf("0.1", `/devices/pillboxes/${name}/status`)).toHaveLength(2);
  });
});

describe.each([
  ["0.1", "after"],
  ["0.2", "before"],
  ["0.9", "before"],
] as const)("walking the links of version %s", (version, bound) => {
  test(`by ${bound} gives each record that was there exactly once, in order, while others arrive`, async () => {
    const number = versions.indexOf(version) + 16;
    const device: Device = { kind: "pillboxes", address: `00:0d:6f:00:0c:${number}`, subtype: "polled" };
    const start_ms = Math.floor(now_ms / 1000) * 1000 - 60_000;
    // Bursts of up to 70 within one second, and quiet seconds between them.
    const stamps_ms = Array.from(
      { length: 300 },
      (_, index) => start_ms + Math.floor(index / 70) * 3000 + (index % 70),
    );
    const name = await box(device, stamps_ms);
    const seen: number[] = [];
    const path = `/${word(version)}/pillboxes/${name}/status?limit=17`;
    let url: string | undefined = new URL(`/v${version}${path}`, serving.api.url).href;
    for (let page = 0; url !== undefined && page < 100; page += 1) {
      const { pathname, search } = new URL(url);
      const response = await ask(version, `${pathname}${search}`.replace(`/v${version}`, ""));
      seen.push(...((await response.json()) as Body[]).map(({ eventcount }) => Number(eventcount)));
      url = /^<([^>]+)>; rel="next"$/.exec(response.headers.get("Link") ?? "")?.[1];
      if (url !== undefined) expect(new URL(url).searchParams.has(bound)).toBe(true);
      // Into the seconds that are being walked, before and behind.
      for (const place of [0, 1, 2, 3])
        await box(device, [start_ms + place * 3000 + 30], 1000 + page * 4 + place);
    }
    const expected = stamps_ms.map((_, index) => index);
    expect(seen.filter((count) => count < 1000)).toEqual(bound === "after" ? expected : expected.reverse());
    expect(new Set(seen).size).toBe(seen.length);
  });
});

test("0.5 and 0.6 are the same as 0.4", async () => {
  for (const path of ["/items", "/homes/12", "/subjects/1", "/items/pillboxes/box-polled/status"]) {
    const [v4, v5, v6] = await Promise.all(
      ["0.4", "0.5", "0.6"].map((version) => bodyOf<unknown>(version, path)),
    );
    expect([v5, v6]).toEqual([v4, v4]);
  }
});

test("precision=ms is of 0.9: older versions ignore it as they do any parameter that they do not have", async () => {
  const stamp = async (version: string) =>
    (await bodyOf(version, "/items/scales/scale/heart?limit=1&precision=ms"))[0]?.["stamp"];
  expect(Number(await stamp("0.9"))).toBeGreaterThan(1e12);
  expect(Number(await stamp("0.8"))).toBeLessThan(1e10);
  expect((await ask("0.8", "/items/scales/scale/heart?precision=us")).status).toBe(200);
});

test("a parameter that an endpoint does not have is refused in 0.9 by its name, with what was meant", async () => {
  const refusalOf = async (path: string) => (await ask("0.9", path)).json();
  const unknown = (message: string) => ({ code: 42207, message: `No parameter here is named ${message}` });
  const heart = "/items/scales/scale/heart";
  expect(await refusalOf(`${heart}?befor=1`)).toEqual(unknown('"befor": did you mean before?'));
  expect(await refusalOf(`${heart}?limit=1&foo=2`)).toEqual(
    unknown('"foo": it has skip, limit, before, after, since, through, precision, provenance'),
  );
  expect(await refusalOf("/items?limit=1")).toEqual(unknown('"limit": it has none'));
  expect(await refusalOf("/homes/?%zz=1")).toEqual(unknown('"%zz": it has none'));
  // What it has is read first.
  expect(await refusalOf(`${heart}?foo=1&limit=0`)).toMatchObject({ code: 42201 });
  for (const version of ["0.4", "0.8"]) expect((await ask(version, "/items?limit=1&foo=2")).status).toBe(200);
});

test("after is of 0.9: older versions ignore it, but for 0.1, whose own it was", async () => {
  const records = async (version: string, query = "") =>
    bodyOf(version, `/items/pillboxes/box-polled/status${query}`);
  const all = await records("0.9");
  const [newest] = all;
  expect(await records("0.9", `?after=${newest?.["stamp"]}`)).toEqual([]);
  expect(await records("0.8", `?after=${newest?.["stamp"]}`)).toEqual(await records("0.8"));
});

/** Appends statuses of a box, counted from `first` on, and answers its name. */
async function box(device: Device, stamps_ms: readonly number[], first = 0): Promise<string> {
  const readings = stamps_ms.map((stamp_ms, index) =>
    reading(device, "pillbox_status", stamp_ms, {
      devicestamp: 0,
      voltage: 5000,
      powersource: "battery",
      eventcount: first + index,
      batteryseconds: "0",
      firmwarerevsion: "1.4",
      macaddress: device.address,
      nextpanicstart: 0,
      nextpanicstop: 0,
    }),
  );
  return (await append(serving.store, readings))[0] ?? "";
}
