import type { Clock } from "../../base/clock.ts";
import type { SettingOf } from "../../store/derived/home-readings.ts";
import type { VisibleStore } from "../../store/visible-store.ts";
import { HttpError } from "../server/http-errors.ts";
import { givenIn, pathReader, queryReader } from "../server/parameters.ts";
import { nextQuery } from "./encoded-answers.ts";
import { type Endpoint, type EndpointAnswer, exclusive, plainBody } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";

/**
 * The newest version of the interface for a program that has the store itself: the same endpoints that are served, without HTTP, a token or
 * a server.
 */
export class Answering {
  readonly #store: VisibleStore;
  readonly #clock: Clock;
  readonly #settingOf: SettingOf | undefined;

  /** @param of.settingOf what the configuration of its gateway says of a home */
  constructor(of: { store: VisibleStore; clock: Clock; settingOf?: SettingOf }) {
    this.#store = of.store;
    this.#clock = of.clock;
    this.#settingOf = of.settingOf;
  }

  /**
   * @param path below the version, percent-encoded
   * @param query with its `?`, or empty
   * @returns the body, with the query of the page that follows it; undefined where there is no such path or record; `gone` where the query
   * goes on from what is not known any more
   */
  async get<Body>(
    path: string,
    query: string,
  ): Promise<{ readonly body: Body; readonly next: string | undefined } | "gone" | undefined> {
    const route = routes.find(({ form }) => form.test(path));
    if (route === undefined) return undefined;
    const given = query.replace(/^\?/, "");
    try {
      const { body, next } = await this.#answer(route.endpoint, route.form.exec(path)?.groups ?? {}, given);
      return { body: plainBody(body) as Body, next: next && `?${nextQuery(given, next)}` };
    } catch (thrown) {
      if (!(thrown instanceof HttpError)) throw thrown;
      if (thrown.status === 404) return undefined;
      if (thrown.status === 410) return "gone";
      throw thrown;
    }
  }

  async #answer(
    { path, query, handle }: Endpoint,
    names: Readonly<Record<string, string>>,
    given: string,
  ): Promise<EndpointAnswer> {
    const decoded = Object.fromEntries(
      Object.entries(names).map(([name, text]) => [name, decodeURIComponent(text)]),
    );
    const handled = await handle({
      store: this.#store,
      path: pathReader(path)["~standard"].validate(decoded).value,
      query: queryReader(query, exclusive)["~standard"].validate(givenIn(given)).value,
      // Whoever opens the store itself may do everything.
      scope: "admin",
      now_ms: this.#clock.now().unix_ms,
      settingOf: this.#settingOf,
    });
    if (!("read" in handled)) return handled;
    const read = await handled.read<never>(() => undefined);
    // Nothing is kept: it is never that.
    return "kept" in read ? read.kept : read.answer;
  }
}

/** Each endpoint with the form of its path, with a slash at the end or without. */
const routes = endpoints.map((endpoint) => ({
  endpoint,
  form: new RegExp(`^${endpoint.template.replace(/\/$/, "").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}/?$`),
}));
