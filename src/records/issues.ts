import { type Static, Type } from "@sinclair/typebox";
import { integer, integerOrNull, textOrNull, unixTimeOrNull } from "./field.ts";

/** Something that is wrong in a home, with a subject or with an item, and whether it is mended. */
export const Issue = Type.Object(
  {
    issueid: integer("issue identifier"),
    homeid: integerOrNull("home that the issue concerns"),
    subjectid: integerOrNull("subject that the issue concerns"),
    itemid: integerOrNull("item that the issue concerns"),
    typename: textOrNull("type of issue"),
    statusname: textOrNull("where its mending stands"),
    opened: unixTimeOrNull("when the issue was opened"),
    closed: unixTimeOrNull("when it was closed"),
    summary: textOrNull("what is wrong"),
  },
  { title: "Issue" },
);

export type Issue = Static<typeof Issue>;

/** Something about a subject's sensors or data that needs attention. */
export const Alert = Type.Object(
  {
    subjectid: integer("subject"),
    alerttypeid: integer("alert type identifier"),
    alerttypename: textOrNull("category of the alert: a sensor, a data stream or a database object, mostly"),
    alertmessage: textOrNull("descriptive message"),
  },
  { title: "Alert" },
);

export type Alert = Static<typeof Alert>;
