import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { before, limit, precision, skip, through } from "../../../src/web/api/endpoint.ts";
import { HttpError } from "../../../src/web/server/http-errors.ts";
import { givenIn, pathReader, queryReader } from "../../../src/web/server/parameters.ts";

const schema = Type.Object({ skip, limit, before, through, precision });
const read = (query: string) => queryReader(schema)["~standard"].validate(givenIn(query)).value;

describe("query parameters", () => {
  test("have the defaults of the interface", () => {
    expect(read("")).toEqual({ skip: 0, limit: 1000, precision: "s" });
  });

  test("reach to their bounds", () => {
    expect(read("skip=0&limit=1&before=0&through=0")).toMatchObject({
      skip: 0,
      limit: 1,
      before: 0,
      through: 0,
    });
    expect(
      read("skip=1000000000000&limit=1000&before=253402300799&through=9007199254740991&precision=ms"),
    ).toEqual({
      skip: 1_000_000_000_000,
      limit: 1000,
      before: 253_402_300_799,
      through: Number.MAX_SAFE_INTEGER,
      precision: "ms",
    });
  });

  test("are found by their decoded names, and others are ignored where they may be, decodable or not", () => {
    expect(read("%73kip=%35&foo=1&foo=2&%zz=3&=4&&x&bar=%zz&__proto__=1&Limit=9&after=x")).toMatchObject({
      skip: 5,
      limit: 1000,
    });
  });

  const malformed = [
    "skip=",
    "skip",
    "skip=-1",
    "skip=-0",
    "skip=+1",
    "skip=%2B1",
    "skip=1000000000001",
    "skip=99999999999999999999999",
    "skip=1.0",
    "skip=1e3",
    "skip=0x10",
    "skip=1%20",
    "skip=1_000",
    "skip=%D9%A1",
    "skip=%EF%BC%91",
    "skip=%zz",
    "skip=%FF",
    "skip=1%00",
    "skip=null",
    "skip=NaN",
    "skip=true",
    "limit=0",
    "limit=1001",
    "limit=-5",
    "limit=",
    "limit=all",
    "before=-1",
    "before=253402300800",
    "before=2026-01-01",
    "before=1.5",
    "before=",
    "through=-1",
    "through=9007199254740992",
    "precision=",
    "precision=us",
    "precision=MS",
    "precision=%zz",
  ];
  test.each(malformed)("%s is refused, with the parameter and what it must be", (query) => {
    expect(refusal(() => read(query))).toEqual({
      code: 42201,
      message: `${query.split("=")[0]} must be ${expectations[query.split("=")[0] ?? ""]}`,
    });
  });

  test.each(["skip=1&skip=2", "skip=1&skip=1", "skip=&skip=", "skip=1&%73kip=2", "skip=1&skip=%zz"])(
    "%s is refused as repeated",
    (query) => {
      expect(refusal(() => read(query))).toEqual({
        code: 42202,
        message: `skip is given more than once; it must be ${expectations["skip"]}`,
      });
    },
  );
});

describe("path parameters", () => {
  const schema = Type.Object({ id: Type.Integer({ minimum: 0, maximum: 100 }), itemname: Type.String() });
  const readPath = (segments: object) => pathReader(schema)["~standard"].validate(segments).value;

  test("are text, or whole numbers where the schema says so", () => {
    expect(readPath({ id: "7", itemname: "wall 1/é" })).toEqual({ id: 7, itemname: "wall 1/é" });
  });

  test("that are malformed are refused by name", () => {
    expect(refusal(() => readPath({ id: "7", itemname: null }))).toEqual({
      code: 42203,
      message: "itemname in the path is not percent-encoded UTF-8",
    });
    expect(refusal(() => readPath({ id: "seven", itemname: "" }))).toEqual({
      code: 42201,
      message: "id must be an integer from 0 to 100",
    });
  });
});

const expectations: Record<string, string> = {
  skip: "an integer from 0 to 1000000000000",
  limit: "an integer from 1 to 1000",
  before: "an integer from 0 to 253402300799",
  through: "an integer from 0 to 9007199254740991",
  precision: "s or ms",
};

function refusal(action: () => unknown): unknown {
  try {
    return action();
  } catch (thrown) {
    if (thrown instanceof HttpError) return thrown.body;
    throw thrown;
  }
}
