import { type Static, Type } from "@sinclair/typebox";
import { integer, textOrNull } from "./field.ts";

/** A phone of a subject. */
export const Phone = Type.Object(
  {
    subjectid: integer("subject"),
    phoneid: integer("phone identifier"),
    phone: textOrNull("phone number"),
  },
  { title: "Phone" },
);

export type Phone = Static<typeof Phone>;
