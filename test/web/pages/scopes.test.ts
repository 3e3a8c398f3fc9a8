import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isKind, type Kind } from "../../../src/domain/kinds.ts";
import { seriesNames, seriesOf } from "../../../src/domain/series.ts";
import type { Binding } from "../../../src/domain/token.ts";
import { givenNamesBytes, givenNamesFile } from "../../../src/store/inventory/given-names.ts";
import { normalAddress } from "../../../src/store/inventory/item-names.ts";
import { measures } from "../../../src/web/pages/device/day-plots.ts";
import { dashboardApp } from "../../../src/web/pages/page-routes.ts";
import type { Site } from "../../../src/web/pages/site.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { type Receiving, receive } from "../../central/receiver/receiving.ts";
import {
  bound,
  fill,
  homes,
  marked,
  marksOf,
  mover,
  named,
  stamp_s,
} from "../../domain/records/marked-programme.ts";
import { now_ms as door_ms, doorName, fillDoor, zone } from "./device-history.ts";
import { type PagesServing, serveHome } from "./device-home.ts";

/** An address of central's pages, and whose data it has: nobody else gets it. Without an owner everybody does, each with what is theirs. */
interface Address {
  readonly path: string;
  readonly owner?: number;
  /** It names what it shows, by the number of the owner. */
  readonly isNamed?: boolean;
}

const everyHome = (path: (home: number) => string, isNamed = true): Address[] =>
  Object.values(homes).map((home) => ({ path: path(home), owner: home, isNamed }));

/** The days around the readings of a home. */
const daysOf = (home: number) => {
  const date = (days: number) => new Date((stamp_s(home) + days * 86_400) * 1_000).toISOString().slice(0, 10);
  return { from: date(0), until: date(1), neighbours: [-1, 0, 1, 2].map(date) };
};

/** The devices of all homes, and the one that has moved from home a to home b. */
const everyDevice = (path: (kind: Kind, name: string) => readonly string[], isNamed = true): Address[] =>
  (Object.keys(named.items) as Kind[]).flatMap((kind) =>
    (named.items[kind] ?? []).flatMap((name) => {
      const number = Number(/(\d{5})/.exec(name)?.[1]);
      const owner = marked.find((one) => one === number);
      if (owner === undefined || /^\d+$/.test(name)) return [];
      return path(kind, encodeURIComponent(name)).map((one) => ({ path: one, owner, isNamed }));
    }),
  );

const ofDevice = (kind: string, name: string) => {
  const home = Number(/(\d{5})/.exec(name)?.[1]);
  const { from, until } = daysOf(home === mover ? homes.b : home);
  return `/devices/${kind}/${name}?from=${from}&until=${until}`;
};

/** All days on which anybody has said anything. */
const allDays = `from=${daysOf(homes.a).neighbours[0]}&until=${daysOf(homes.e).neighbours[3]}`;

/**
 * A row for each route of the pages. Those of people and devices have addresses at central, which every kind of token asks for; the others say why they have nothing
 * that a token could be kept from.
 */
const rows: Readonly<Record<string, readonly Address[] | string>> = {
  "GET /": [
    { path: "/" },
    ...["missing", "activity", "silent", "batteries", "versions", "firmware"].map((show) => ({
      path: `/?show=${show}`,
    })),
    ...Object.values(homes).map((home) => ({ path: `/?find=${home}` })),
  ],
  "GET /find": ["home", "a", "e", "1", "2", "3", "sensor"].map((q) => ({ path: `/find?q=${q}` })),
  "GET /alerts": [{ path: "/alerts" }],
  "GET /sql": "nothing without a mirror: test/cli/sql.test.ts asks it with a token of one home",
  "GET /homes/:home": everyHome((home) => `/homes/${home}`),
  "GET /live/homes/:home": everyHome((home) => `/live/homes/${home}`),
  "GET /homes/:home/day": everyHome((home) => `/homes/${home}/day?date=${daysOf(home).from}`, false),
  "GET /homes/:home/mesh": everyHome((home) => `/homes/${home}/mesh`, false),
  "GET /homes/:home/acceptance": everyHome((home) => `/homes/${home}/acceptance`, false),
  "GET /homes/:home/burn-in": everyHome((home) => `/homes/${home}/burn-in`, false),
  "GET /homes/:home/recorded": everyHome((home) => `/homes/${home}/recorded`, false),
  "GET /live/homes/:home/recorded": everyHome((home) => `/live/homes/${home}/recorded`, false),
  "GET /devices/:kind/:name": everyDevice((kind, name) => [ofDevice(kind, name)]),
  "GET /live/devices/:kind/:name": everyDevice((kind, name) => [`/live${ofDevice(kind, name)}`]),
  "GET /plots/homes/:home/activity.svg": everyHome((home) => `/plots/homes/${home}/activity.svg`, false),
  "GET /plots/:kind/:name/:measure": everyDevice(
    (kind, name) =>
      Object.entries(measures)
        .filter(([, measure]) => measure.kind === kind)
        .map(([measure]) => `/plots/${kind}/${name}/${measure}?${allDays}`),
    false,
  ),
  "GET /downloads/:kind/:name/:file": everyDevice((kind, name) =>
    seriesNames
      .filter((series) => seriesOf(series).kind === kind && !name.includes(`${mover}`))
      // Of the sensor that no inventory knows there are events alone.
      .filter((series) => series === "wirelesssensor_events" || !name.startsWith("wirelesssensor-"))
      .flatMap((series) =>
        ["json", "csv"].map(
          (form) => `/downloads/${kind}/${name}/${seriesOf(series).path}.${form}?${allDays}`,
        ),
      ),
  ),
  "GET /live": "a gateway's: of its one home",
  "GET /day": "a gateway's: of its one home",
  "GET /mesh": "a gateway's: of its one home",
  "GET /acceptance": "a gateway's: of its one home",
  "GET /burn-in": "a gateway's: of its one home",
  "GET /recorded": "a gateway's: of its one home",
  "GET /live/recorded": "the same",
  "GET /walk":
    "a gateway's, for tokens of scope admin alone: walk.test.ts asks it and its forms with another",
  "GET /live/walk": "the same",
  "POST /walk/joining": "the same",
  "POST /walk/name": "the same",
  "POST /walk/conflict": "the same; conflict.test.ts has one",
  "POST /walk/line": "the same",
  "POST /walk/replace": "the same",
  "POST /walk/try": "the same",
  "POST /walk/finish": "the same",
  "POST /notes": "for those who may write notes alone: notes.test.ts asks it with other tokens",
  "GET /assets/:build/:file": "script and style",
  "GET /sign-in": "the way in",
  "POST /sign-in": "the way in",
  "POST /sign-out": "the way out",
  "GET /session": "whether the token holds",
};

test.each(["gateway", "central"] as const)("every route of the pages of a %s has a row", (role) => {
  const site = { role, store: {}, ...(role === "gateway" && { walk: {} }) } as unknown as Site;
  const { routes } = dashboardApp(site);
  const missing = routes
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => rows[route] === undefined);
  expect(missing).toEqual([]);
});

describe("at central", () => {
  let receiving: Receiving;
  const readers: { name: string; own: readonly number[]; token: string }[] = [];
  beforeAll(async () => {
    receiving = await receive({ clock: new SettableClock(Date.UTC(2026, 10, 20, 12)) });
    await fill(receiving.store);
    await nameEverything(receiving);
    for (const { name, own, binding } of bound)
      readers.push({ name, own, token: await tokenOf(receiving, binding) });
  });
  afterAll(() => receiving[Symbol.asyncDispose]());

  test.each(Object.keys(rows).filter((route) => typeof rows[route] !== "string"))(
    "%s shows a token what is its own and nothing else",
    async (route) => {
      const faults: unknown[] = [];
      for (const address of rows[route] as readonly Address[])
        for (const { name, own, token } of readers) {
          const { status, text } = await seen(receiving, address.path, token);
          const { owner } = address;
          const expected = owner === undefined || own.includes(owner) ? 200 : 404;
          if (status !== expected) faults.push({ ...address, name, status });
          const foreign = marked.filter((number) => !own.includes(number)).flatMap(marksOf);
          const heard = withoutSaid(text, address);
          const told = foreign.filter((mark) => heard.includes(mark));
          if (told.length > 0) faults.push({ ...address, name, told });
          if (status === 200 && address.isNamed && !text.includes(String(owner)))
            faults.push({ ...address, name, told: "nothing" });
        }
      expect(faults.slice(0, 5)).toEqual([]);
    },
  );

  test("what a home calls the devices of all homes is shown of its own alone, on its page alone", async () => {
    for (const home of Object.values(homes)) {
      const { text } = await seen(receiving, `/homes/${home}`, readers[0]?.token ?? "");
      const told = Object.values(homes).filter((one) => text.includes(`called ${one}`));
      expect([home, told]).toEqual([home, [home]]);
    }
  });

  test("every home that a token may see is in the list of homes, and no other", async () => {
    const all = Object.values(homes);
    for (const { name, own, token } of readers) {
      const { text } = await seen(receiving, "/", token);
      const listed = all.filter((home) => text.includes(`href="/homes/${home}"`));
      expect([name, listed]).toEqual([name, all.filter((home) => own.includes(home))]);
    }
  });
});

describe("at a gateway", () => {
  let serving: PagesServing;
  beforeAll(async () => {
    serving = await serveHome({ now_ms: door_ms, home: 12, zone });
    await fillDoor(serving.store);
  });
  afterAll(() => serving[Symbol.asyncDispose]());

  test.each([
    ["/", 200],
    ["/live", 200],
    ["/recorded", 404],
  ])("%s shows a token of another home no device", async (path, status) => {
    const own = await serving.ask(path);
    expect(await firstOf(own)).toContain(doorName);
    const foreign = await serving.ask(path, serving.tokens.foreign);
    expect(foreign.status).toBe(status);
    expect(await firstOf(foreign)).not.toContain("000d6f");
  });
});

/** Has each home name the devices of all homes. */
async function nameEverything({ store }: Receiving): Promise<void> {
  const records = (await store.itemOverviews()).map(({ record }) => record);
  for (const home of Object.values(homes)) {
    const names = records.flatMap(({ typename, macaddress }) => {
      const address = normalAddress(macaddress ?? "");
      if (address === undefined || !isKind(typename)) return [];
      return [
        {
          kind: typename,
          address,
          name: `called ${home}`,
          room: `room ${home}`,
          given_ms: stamp_s(home) * 1_000,
        },
      ];
    });
    await store.putBackup(home, givenNamesFile, givenNamesBytes(names));
  }
}

async function tokenOf(receiving: Receiving, binding: Partial<Binding> | undefined): Promise<string> {
  return binding === undefined ? receiving.token("read") : receiving.boundToken(binding);
}

async function seen(
  { central: { origin } }: Receiving,
  path: string,
  token: string,
): Promise<{ status: number; text: string }> {
  const cookie = `lintel-${new URL(origin).port}=${token}`;
  const response = await fetch(origin + path, {
    headers: { Accept: "text/html", cookie },
    redirect: "manual",
  });
  const { status } = response;
  return { status, text: await firstOf(response) };
}

/** A text, and of a stream what it sends first, which has all that its page shows. */
async function firstOf(response: Response): Promise<string> {
  if (response.headers.get("Content-Type") !== "text/event-stream") return response.text();
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes("\n\n")) text += decoder.decode((await reader?.read())?.value, { stream: true });
  await reader?.cancel();
  return text;
}

/** A text without what the reader has said itself: the words of the address, and the days before and after those asked for. */
function withoutSaid(text: string, { path, owner }: Address): string {
  const words = decodeURIComponent(path).split(/[/?&=]/);
  const days = Object.values(homes).includes(owner as never) ? daysOf(owner as number).neighbours : [];
  const moves = owner === mover ? daysOf(homes.b).neighbours : [];
  return [...words, ...days, ...moves].reduce(
    (rest, word) => (word.length < 5 ? rest : rest.replaceAll(word, "")),
    text,
  );
}
