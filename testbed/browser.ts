import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/** Debian's Chromium; undefined where it is not installed. The one without windows takes a third of the processor's time. */
export const chromiumPath = ["chromium-headless-shell", "chromium", "chromium-browser"]
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path));

/** Why tests with a browser are skipped here. */
export const noChromium = "wants Chromium: sudo apt-get install chromium-headless-shell";

/** A browser of its own, in which each visit has its own cookies. */
export class TestBrowser implements AsyncDisposable {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    // Names of `.test` are this machine: to a browser they are hosts like any other, with rules that 127.0.0.1 is spared.
    const args = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP *.test 127.0.0.1"];
    return new TestBrowser(await chromium.launch({ executablePath: chromiumPath ?? "", args }));
  }

  /** A window in which nothing has been opened yet. */
  async visit(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Visit> {
    const context = await this.#browser.newContext({ ignoreHTTPSErrors: true, ...options });
    return new Visit(context, await context.newPage());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}

/** A window, and all that went wrong in it: errors on the console, requests to elsewhere, violations of the policy. */
export class Visit implements AsyncDisposable {
  readonly page: Page;
  readonly faults: string[] = [];
  readonly #context: BrowserContext;

  constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.page = page;
    // It names what never comes, before the limit of the test ends the wait without a word.
    context.setDefaultTimeout(300_000);
    page.on("console", (message) => {
      if (message.type() !== "error" && message.type() !== "warning") return;
      if (!slowPreload.test(message.text())) this.faults.push(message.text());
    });
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("request", (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (protocol !== "data:" && hostname !== "127.0.0.1" && !hostname.endsWith(".test"))
        this.faults.push(`a request to ${request.url()}`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}

/** On a busy machine a script begins seconds after its page: what was loaded for it waits. */
const slowPreload = /was preloaded using link preload but not used within a few seconds/;
