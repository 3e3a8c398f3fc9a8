/**
 * Takes the pictures of README and docs/pages.md, of the demo, with Debian's Chromium.
 *
 *   ./scripts/screenshots
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { chromiumPath, noChromium, TestBrowser } from "../testbed/browser.ts";
import { Site } from "../testbed/front-door.ts";
import { optionsOf } from "./program-options.ts";

/** A picture of the upper part of a page, in pixels of CSS. */
interface Picture {
  readonly name: string;
  readonly path: string;
  readonly width: number;
  readonly height: number;
  readonly dark?: boolean;
  /** Of central's pages. */
  readonly central?: boolean;
  /** Whoever may only read is shown nothing there. */
  readonly admin?: boolean;
  /** A sign that it may be taken, as a selector of Playwright. */
  readonly when: string;
}

const told = "h1:has-text('balcony-door')";

const pictures: readonly Picture[] = [
  { name: "home", path: "/", width: 1_280, height: 1_320, when: told },
  { name: "home-phone", path: "/", width: 390, height: 844, dark: true, when: told },
  {
    name: "motion",

    path: "/devices/wirelesssensors/kitchen-wall?span=4w",
    width: 1_280,
    height: 1_060,
    // The table of what was drawn comes with the drawing.
    when: "tr[data-from]",
  },
  {
    name: "pill-box",

    path: "/devices/pillboxes/pillbox-evening?span=4w",
    width: 1_280,
    height: 720,
    when: ".doses",
  },
  {
    name: "walk",
    path: "/walk?step=test",
    width: 390,
    height: 844,
    when: ".walk-trial",
    admin: true,
  },
  { name: "recorded", path: "/recorded", width: 390, height: 844, when: ".recorded h1" },
  { name: "homes", path: "/", width: 1_280, height: 780, when: ".needy", central: true },
];

const directory = join(import.meta.dir, "../docs/pictures");
/** Half a minute: the devices of the demo are all heard within some seconds. */
const tries_max = 60;
const pause_ms = 500;

/** Opens the page until it is as the picture wants it, and takes the picture in few colours. */
async function take(
  browser: TestBrowser,
  { path, when, name, dark, width, height }: Picture,
  { origin, token }: { origin: string; token: string },
): Promise<void> {
  const colorScheme = dark ? "dark" : "light";
  await using visit = await browser.visit({ locale: "en-GB", viewport: { width, height }, colorScheme });
  const { page } = visit;
  await page.goto(`${origin}/sign-in#token=${token}`);
  await page.waitForURL(`${origin}/`);
  for (let tries = 1; ; tries++) {
    await page.goto(origin + path);
    if (await isThere(page.locator(when).first())) break;
    if (tries === tries_max)
      throw new Error(`${path} never had ${when}: it says ${await page.textContent("h1")}`);
  }
  if (visit.faults.length > 0) throw new Error(`${path}: ${visit.faults.join("; ")}`);
  const picture = new Bun.Image(await page.screenshot());
  await picture.png({ palette: true, colors, compressionLevel: 9 }).write(join(directory, `${name}.png`));
}

function isThere(sign: Locator): Promise<boolean> {
  return sign.waitFor({ state: "attached", timeout: pause_ms }).then(
    () => true,
    () => false,
  );
}

/** Enough for two inks on their grounds, with the edges of letters. */
const colors = 128;

optionsOf("./scripts/screenshots", {});
if (chromiumPath === undefined) {
  console.error(`screenshots: ${noChromium}`);
  process.exit(2);
}
await mkdir(directory, { recursive: true });
const site = new Site();
try {
  const demo = site.spawn(["demo", "--port", "0", "--central-port", "0", "--json"]);
  const ready = JSON.parse((await demo.line()) ?? "{}") as Record<
    "url" | "central_url" | "token" | "admin_token",
    string
  >;
  await using browser = await TestBrowser.start();
  for (const picture of pictures)
    await take(browser, picture, {
      origin: new URL(picture.central ? ready.central_url : ready.url).origin,
      token: picture.admin ? ready.admin_token : ready.token,
    });
} finally {
  await site.remove();
}
