/**
 * Pages are made at the server and again in the browser, so the types of both are known here. Where both have a type of one name the browser's hides what Bun adds
 * to it, which is added again.
 */
interface Worker {
  ref(): void;
  unref(): void;
}

interface ReadableStream<R = unknown> {
  text(): Promise<string>;
}

declare module "*.svg" {
  const text: string;
  export default text;
}
