import { expect, test } from "bun:test";
import { nextLink } from "../../../src/web/api/encoded-answers.ts";

const link = (url: string) => nextLink(url, { before: 9, skip: 2 });

test("a next link is the request's own address with the new position, and everything else kept", () => {
  expect(link("http://pi.local:8080/v0.9/x/?before=5&precision=ms&skip=1")).toBe(
    '<http://pi.local:8080/v0.9/x/?precision=ms&before=9&skip=2>; rel="next"',
  );
});

test("nothing in a request ends the link's address early or starts another header", () => {
  const query = "a=%3E%3B%20rel%3Dx&b=%0D%0AX-Evil%3A+1&c=%zz&d=%22,%F0%9F%98%80";
  const header = link(`https://[::1]:8/v0.9/a%3E%0D%0A<>"/x?${query}`);
  expect(header).toMatch(/^<[\x21\x23-\x3b\x3d\x3f-\x7e]+>; rel="next"$/);
  expect(header).toContain("a=%3E%3B%20rel%3Dx&b=%0D%0AX-Evil%3A%201&d=%22%2C%F0%9F%98%80&before=9&skip=2>");
});
