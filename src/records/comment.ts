import { type Static, Type } from "@sinclair/typebox";
import { integer, integerOrNull, textOrNull } from "./field.ts";

/** A remark that somebody of the programme made about a subject. */
export const Comment = Type.Object({
  subjectid: integer("subject"),
  commentid: integer("comment identifier"),
  stamp: integerOrNull("when the comment was made, unix timestamp"),
  username: textOrNull("name of the user who made it"),
  comment: textOrNull("the comment"),
});

export type Comment = Static<typeof Comment>;
