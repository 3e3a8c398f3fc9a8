import { type Static, Type } from "@sinclair/typebox";
import { isTimezone } from "../../base/timezone.ts";
import { isKind } from "../kinds.ts";
import { note_words_max, noteKinds, noteSources } from "../note-kinds.ts";
import { useAnswers, uses } from "../uses.ts";
import { Item, subtypeNamed } from "./item.ts";
import {
  code,
  dateTextOrNull,
  flagOrNull,
  identifying,
  integer,
  integerOrNull,
  orNull,
  record,
  textOrNull,
  textOrNullWord,
  unixTime,
  unixTimeOrNull,
} from "./record-field.ts";

/** A home in which items are installed. */
export const Home = record("Home", {
  homeid: identifying("home", integer("home identifier")),
  address: textOrNull("street address"),
  cityname: textOrNull("city"),
  cityid: identifying("person", integerOrNull("city identifier")),
  citystatename: textOrNull("state name"),
  citystateid: identifying("person", integerOrNull("state identifier")),
  citystateabbr: textOrNull("state abbreviation"),
  countryname: textOrNull("country"),
  countryabbr: textOrNull("country abbreviation"),
  countryid: identifying("person", integerOrNull("country identifier")),
  zip: identifying("person", integerOrNull("postal code")),
  timezone: identifying({ isKnown: isTimezone }, textOrNull("time zone")),
  apartment: textOrNull("apartment number"),
  homephones: textOrNull("home phone number"),
  homephoneids: identifying("person", integerOrNull("home phone identifier")),
  locationid: identifying("person", integerOrNull("location identifier")),
  locationname: textOrNull("location name"),
  hometype: flagOrNull("0 = house, 1 = apartment"),
});

/** An item in a home over a span of time. */
export const HomeInventory = record("Home inventory", {
  homeid: identifying("home", integer("home")),
  item: Item,
  start: unixTimeOrNull("when the item was installed in the home"),
  stop: unixTimeOrNull("when it was taken away"),
});

export type HomeInventory = Static<typeof HomeInventory>;

/** Something that was so in a home for a time, and that no sensor tells: see docs/notes.md. */
export const Note = record("Note", {
  homeid: identifying("home", integer("home")),
  noteid: code("note identifier, unique in the home"),
  itemid: identifying("item", integerOrNull("item that the note is about; null: all of the home")),
  subjectid: identifying("subject", integerOrNull("subject that the note is about; null: all of the home")),
  kind: Type.Union(
    noteKinds.map((kind) => Type.Literal(kind)),
    { description: "what it says" },
  ),
  start: unixTime({ description: "when that began" }),
  stop: unixTimeOrNull("when that ended; null: it lasts"),
  words: orNull(Type.String({ maxLength: note_words_max }), "more about it, in somebody's own words"),
  source: Type.Union(
    noteSources.map((source) => Type.Literal(source)),
    { description: "who said it" },
  ),
  said: unixTimeOrNull("when it was said"),
});

export type Note = Static<typeof Note>;

/** Whether a home or a participant allows a use of the data: see docs/consent.md. */
export const Consent = record("Consent", {
  consentid: code("consent identifier"),
  homeid: identifying("home", integerOrNull("home that it is about; null: every home of the subject")),
  subjectid: identifying("subject", integerOrNull("subject who said it; null: it was said for the home")),
  use: Type.Union(
    uses.map((use) => Type.Literal(use)),
    { description: "use of the data" },
  ),
  answer: Type.Union(
    useAnswers.map((answer) => Type.Literal(answer)),
    { description: "what was said to this use" },
  ),
  start: unixTime({ description: "from when it holds" }),
  stop: unixTimeOrNull("until when it holds; null: it lasts"),
});

export type Consent = Static<typeof Consent>;

/** A participant of a study. */
export const Subject = record("Subject", {
  subjectid: identifying("subject", integer("unique database identifier")),
  subjectname: textOrNull("name of the subject"),
  titleid: identifying("person", integerOrNull("title code: 0 Mr, 1 Mrs, 3 Miss, 4 Dr or Ms")),
  titlename: textOrNull("title"),
  lname: textOrNull("last name"),
  fname: textOrNull("first name"),
  oadc: identifying("person", integerOrNull("identifier in an external database")),
  email: textOrNull("e-mail address"),
  genderid: orNull(Type.Boolean(), "gender code: false (0) female, true (1) male"),
  gendername: identifying({ isKnown: (text) => /^(fe)?male$/i.test(text) }, textOrNull("gender")),
  dob: identifying("birth", unixTimeOrNull("date of birth; negative before 1970")),
  dod: identifying("person", unixTimeOrNull("date of death")),
});

/** A phone of a subject. */
export const Phone = record("Phone", {
  subjectid: identifying("subject", integer("subject")),
  phoneid: code("phone identifier"),
  phone: textOrNull("phone number"),
});

/** An item in the hands of a subject over a span of time. */
export const SubjectInventory = record("Subject inventory", {
  subjectid: identifying("subject", integer("subject")),
  itemid: identifying("item", integer("item identifier")),
  itemname: textOrNull("item name"),
  serialnumber: textOrNull("serial number"),
  macaddress: textOrNull("MAC address"),
  modelid: integerOrNull("model identifier"),
  modelname: textOrNull("model name"),
  hasbatteries: flagOrNull("0 = no batteries, 1 = has batteries"),
  lastbatterychange: textOrNullWord("date of last battery change"),
  subjectspecific: flagOrNull("0 = not specific to a home or subject, 1 = specific"),
  vendorid: integerOrNull("vendor identifier"),
  vendorname: textOrNull("vendor"),
  typeid: integerOrNull("type identifier"),
  typename: identifying({ isKnown: isKind }, textOrNull("type name")),
  subtypeid: integerOrNull("subtype identifier"),
  subtypename: subtypeNamed("subtype name"),
  start: dateTextOrNull("date and time the item was assigned to the subject"),
  stop: dateTextOrNull("date and time it was unassigned"),
});

/** A project of the research programme. */
export const Project = record("Project", {
  projectid: code("project identifier"),
  projectname: textOrNull("project name"),
  start: unixTimeOrNull("project start"),
  stop: unixTimeOrNull("project end"),
  active: flagOrNull("1 = active, 0 = not active"),
});

/** A subject's part in a project over a span of time. */
export const ProjectEnrollment = record("Project enrollment", {
  subjectid: identifying("subject", integer("enrolled subject")),
  projectid: code("project identifier"),
  homeid: identifying("home", integerOrNull("home enrolled in the project")),
  projectname: textOrNull("project name"),
  statename: textOrNull("subject's current state of involvement"),
  stateid: integerOrNull("identifier of that state"),
  start: unixTimeOrNull("start of involvement"),
  stop: unixTimeOrNull("end of involvement"),
});

const ofStudy = {
  studyid: code("study identifier"),
  studyname: textOrNull("study name"),
  studyinvestigator: textOrNull("investigator's name"),
  studyirb: identifying("code", integerOrNull("review-board identifier of the study")),
  studycriteria: textOrNull("enrollment criteria"),
  studysummary: textOrNull("summary"),
  studystart: unixTimeOrNull("study start"),
  studystop: unixTimeOrNull("study end"),
};

/** A study of the research programme. */
export const Study = record("Study", {
  ...ofStudy,
  active: flagOrNull("1 = active, 0 = not active"),
});

/** A subject's status with a study over a span of time. */
export const StudyEnrollment = record("Study enrollment", {
  subjectid: identifying("subject", integer("subject")),
  ...ofStudy,
  studystatusid: integerOrNull("subject's status with the study"),
  studystatusname: textOrNull("name of that status"),
  studystateid: integerOrNull("subject's state in the study"),
  studystatename: textOrNull("name of that state"),
  studychangebyname: textOrNull("name of the person who changed the status"),
  studystatecomment: textOrNull("comment on the status"),
  studystatestart: unixTimeOrNull("when the current status began"),
  studystatestop: unixTimeOrNull("when the current status ends; 0 when open-ended"),
  active: flagOrNull("1 = active, 0 = not active"),
});

/** A contact that somebody of the programme had with a subject. */
export const Contact = record("Contact", {
  subjectid: identifying("subject", integer("subject")),
  contacttypename: textOrNull("type of contact"),
  contactid: code("contact identifier"),
  contacttypeid: integerOrNull("type identifier"),
  contactdate: unixTimeOrNull("date of contact"),
  contactText: textOrNull("description of the contact"),
  contactstarttime: secondsOfDayOrNull("seconds past the start of the day when the contact began, as text"),
  contactstoptime: secondsOfDayOrNull("seconds past the start of the day when it finished, as text"),
  durationid: integerOrNull("duration identifier"),
  durationname: textOrNull("duration"),
  reasonid: integerOrNull("reason identifier"),
  reasonname: textOrNull("reason for the contact"),
  userid: identifying("person", integerOrNull("user identifier")),
  username: textOrNull("user's name"),
});

/** A contact with a subject that the programme has planned. */
export const ScheduledContact = record("Scheduled contact", {
  subjectid: identifying("subject", integer("subject")),
  schedcontactid: code("scheduled contact identifier"),
  schedcontactname: textOrNull("name"),
  schedcontacttypename: textOrNull("type"),
  increment: integerOrNull("number of units between contacts"),
  unitname: textOrNull("name of the unit"),
  unitid: integerOrNull("unit identifier"),
  offset: integerOrNull("units after enrollment before the first contact"),
  notplanned: not("planned", "dateplanned"),
  notscheduled: not("scheduled", "datescheduled"),
  notcompleted: not("completed", "datecompleted"),
  dateplanned: dateTextOrNull("date the contact was planned"),
  datescheduled: dateTextOrNull("date it was scheduled for"),
  datecompleted: dateTextOrNull("date it was completed"),
});

/** A remark that somebody of the programme made about a subject. */
export const Comment = record("Comment", {
  subjectid: identifying("subject", integer("subject")),
  commentid: code("comment identifier"),
  stamp: unixTimeOrNull("when the comment was made"),
  username: textOrNull("name of the user who made it"),
  comment: textOrNull("the comment"),
});

/** Something that is wrong in a home, with a subject or with an item, and whether it is mended. */
export const Issue = record("Issue", {
  issueid: code("issue identifier"),
  homeid: identifying("home", integerOrNull("home that the issue concerns")),
  subjectid: identifying("subject", integerOrNull("subject that the issue concerns")),
  itemid: identifying("item", integerOrNull("item that the issue concerns")),
  typename: textOrNull("type of issue"),
  statusname: textOrNull("where its mending stands"),
  opened: unixTimeOrNull("when the issue was opened"),
  closed: unixTimeOrNull("when it was closed"),
  summary: textOrNull("what is wrong"),
});

/** Something about a subject's sensors or data that needs attention. */
export const Alert = record("Alert", {
  subjectid: identifying("subject", integer("subject")),
  alerttypeid: integer("alert type identifier"),
  alerttypename: textOrNull("category of the alert: a sensor, a data stream or a database object, mostly"),
  alertmessage: textOrNull("descriptive message"),
});

export type Alert = Static<typeof Alert>;

/** A flag that the programme describes by the opposite of its name. */
function not(done: string, date: string) {
  return flagOrNull(
    `0 or 1, as the programme has it. By its name 1 is not ${done}, by the programme's description 1 is ${done}: ${date} tells which`,
  );
}

function secondsOfDayOrNull(description: string) {
  return orNull(Type.String({ pattern: "^[0-9]{1,5}$", title: "seconds of the day in digits" }), description);
}
