import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, orNull, textOrNull, unixTimeOrNull } from "./field.ts";

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

/** A contact with a subject that the programme has planned. */
export const ScheduledContact = Type.Object(
  {
    subjectid: integer("subject"),
    schedcontactid: integer("scheduled contact identifier"),
    schedcontactname: textOrNull("name"),
    schedcontacttypename: textOrNull("type"),
    increment: integerOrNull("number of units between contacts"),
    unitname: textOrNull("name of the unit"),
    unitid: integerOrNull("unit identifier"),
    offset: integerOrNull("units after enrollment before the first contact"),
    notplanned: flagOrNull("planned flag: 0 no, 1 yes"),
    notscheduled: flagOrNull("scheduled flag: 0 no, 1 yes"),
    notcompleted: flagOrNull("completed flag: 0 no, 1 yes"),
    dateplanned: textOrNull("date the contact was planned"),
    datescheduled: textOrNull("date it was scheduled for"),
    datecompleted: textOrNull("date it was completed"),
  },
  { title: "Scheduled contact" },
);

export type ScheduledContact = Static<typeof ScheduledContact>;

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

function secondsOfDayOrNull(description: string) {
  return orNull(Type.String({ pattern: "^[0-9]{1,5}$", title: "seconds of the day in digits" }), description);
}
