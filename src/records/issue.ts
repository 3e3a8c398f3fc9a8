import { type Static, Type } from "@sinclair/typebox";
import { integer, integerOrNull, textOrNull } from "./field.ts";

/** Something that is wrong in a home, with a subject or with an item, and whether it is mended. */
export const Issue = Type.Object({
  issueid: integer("issue identifier"),
  homeid: integerOrNull("home that the issue concerns"),
  subjectid: integerOrNull("subject that the issue concerns"),
  itemid: integerOrNull("item that the issue concerns"),
  typename: textOrNull("type of issue"),
  statusname: textOrNull("where its mending stands"),
  opened: integerOrNull("when the issue was opened, unix timestamp"),
  closed: integerOrNull("when it was closed, unix timestamp"),
  summary: textOrNull("what is wrong"),
});

export type Issue = Static<typeof Issue>;
