import { type Static, Type } from "@sinclair/typebox";
import { integer, textOrNull, unixTimeOrNull } from "./field.ts";

/** A remark that somebody of the programme made about a subject. */
export const Comment = Type.Object(
  {
    subjectid: integer("subject"),
    commentid: integer("comment identifier"),
    stamp: unixTimeOrNull("when the comment was made"),
    username: textOrNull("name of the user who made it"),
    comment: textOrNull("the comment"),
  },
  { title: "Comment" },
);

export type Comment = Static<typeof Comment>;
