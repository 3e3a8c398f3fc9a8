import { Type } from "@sinclair/typebox";
import { record } from "./field.ts";

/** A token, as its holder is told of it. */
export const TokenScope = record("Token", {
  scope: Type.Union([Type.Literal("read"), Type.Literal("admin")], { description: "for what it is" }),
  bound: Type.Boolean({ description: "whether it sees a part of the homes alone" }),
});
