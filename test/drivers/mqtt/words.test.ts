import { expect, test } from "bun:test";
import { signWords } from "../../../drivers/mqtt/words.ts";
import { eventBits } from "../../../drivers/zigbee/properties.ts";

test("a word means the same bit by another hub as by the gateway's own radio", () => {
  const meant = Object.keys(eventBits).map((word) => [word, signWords[word]]);
  const own = Object.entries(eventBits).map(([word, { bit, inverted }]) => [
    word,
    { bit, ...(inverted === undefined ? {} : { inverted }) },
  ]);
  expect(meant).toEqual(own as typeof meant);
});
