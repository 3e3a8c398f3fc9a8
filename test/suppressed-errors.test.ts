import { expect, test } from "bun:test";

test("an error at the end of a scope hides none that ended it", () => {
  const end = () => {
    throw new Error("the end failed");
  };
  const body = () => {
    using _scope = { [Symbol.dispose]: end };
    throw new Error("the body failed");
  };
  const message = /error: the body failed.*and then, at the end of its scope:.*error: the end failed/s;
  expect(body).toThrow(message);
});
