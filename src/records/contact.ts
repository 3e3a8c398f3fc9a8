import { type Static, Type } from "@sinclair/typebox";
import { integer, integerOrNull, orNull, textOrNull, unixTimeOrNull } from "./field.ts";

/** A contact that somebody of the programme had with a subject. */
export const Contact = Type.Object(
  {
    subjectid: integer("subject"),
    contacttypename: textOrNull("type of contact"),
    contactid: integer("contact identifier"),
    contacttypeid: integerOrNull("type identifier"),
    contactdate: unixTimeOrNull("date of contact"),
    contactText: textOrNull("description of the contact"),
    contactstarttime: secondsOfDayOrNull("seconds past the start of the day when the contact began, as text"),
    contactstoptime: secondsOfDayOrNull("seconds past the start of the day when it finished, as text"),
    durationid: integerOrNull("duration identifier"),
    durationname: textOrNull("duration"),
    reasonid: integerOrNull("reason identifier"),
    reasonname: textOrNull("reason for the contact"),
    userid: integerOrNull("user identifier"),
    username: textOrNull("user's name"),
  },
  { title: "Contact" },
);

export type Contact = Static<typeof Contact>;

function secondsOfDayOrNull(description: string) {
  return orNull(Type.String({ pattern: "^[0-9]{1,5}$", title: "seconds of the day in digits" }), description);
}
