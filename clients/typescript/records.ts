// Made by `bun scripts/generate-clients.ts` from src/domain/series.ts and src/domain: change those, then run it.

/** A record of each list, by the name of the list. */
export interface Records {
  /** Items. */
  items: {
    /** unique identifier */
    itemid: number;
    /** unique name */
    itemname: string;
    /** serial number */
    serialnum: string | null;
    /** hardware MAC address */
    macaddress: string | null;
    /** model identifier */
    modelid: number | null;
    /** model name */
    modelname: string | null;
    /** 0 = not specific to a home or subject, 1 = specific */
    subjectspecific: number | null;
    /** vendor identifier */
    vendorid: number | null;
    /** vendor name */
    vendorname: string | null;
    /** item type identifier */
    typeid: number;
    /** item type name */
    typename: string;
    /** item subtype identifier */
    subtypeid: number | null;
    /** item subtype name; the string "null" when absent */
    subtypename: string;
    /** identifier of the home where the item is installed */
    currenthomeid: number | null;
    /** when it was installed in that home */
    currenthomestart: number | null;
    /** whether the item is active in a home */
    active: number;
    /** name of the value of active */
    activename: "Active" | "Inactive";
    /** identifier of the current status */
    statusid: number | null;
    /** name of the current status: Assigned, Received or Decommissioned */
    statusname: string | null;
    /** months the battery lasts */
    batterymonths: number | null;
    /** date of last recorded battery change; the string "null" when absent */
    lastbatterychange: string;
    /** 0 = no batteries, 1 = has batteries */
    hasbatteries: number | null;
  };
  /** Homes. */
  homes: {
    /** home identifier */
    homeid: number;
    /** street address */
    address: string | null;
    /** city */
    cityname: string | null;
    /** city identifier */
    cityid: number | null;
    /** state name */
    citystatename: string | null;
    /** state identifier */
    citystateid: number | null;
    /** state abbreviation */
    citystateabbr: string | null;
    /** country */
    countryname: string | null;
    /** country abbreviation */
    countryabbr: string | null;
    /** country identifier */
    countryid: number | null;
    /** postal code */
    zip: number | null;
    /** time zone */
    timezone: string | null;
    /** apartment number */
    apartment: string | null;
    /** home phone number */
    homephones: string | null;
    /** home phone identifier */
    homephoneids: number | null;
    /** location identifier */
    locationid: number | null;
    /** location name */
    locationname: string | null;
    /** 0 = house, 1 = apartment */
    hometype: number | null;
  };
  /** Subjects. */
  subjects: {
    /** unique database identifier */
    subjectid: number;
    /** name of the subject */
    subjectname: string | null;
    /** title code: 0 Mr, 1 Mrs, 3 Miss, 4 Dr or Ms */
    titleid: number | null;
    /** title */
    titlename: string | null;
    /** last name */
    lname: string | null;
    /** first name */
    fname: string | null;
    /** identifier in an external database */
    oadc: number | null;
    /** e-mail address */
    email: string | null;
    /** gender code: false (0) female, true (1) male */
    genderid: boolean | null;
    /** gender */
    gendername: string | null;
    /** date of birth; negative before 1970 */
    dob: number | null;
    /** date of death */
    dod: number | null;
  };
  /** Project enrollments. */
  project_enrollments: {
    /** enrolled subject */
    subjectid: number;
    /** project identifier */
    projectid: number;
    /** home enrolled in the project */
    homeid: number | null;
    /** project name */
    projectname: string | null;
    /** subject's current state of involvement */
    statename: string | null;
    /** identifier of that state */
    stateid: number | null;
    /** start of involvement */
    start: number | null;
    /** end of involvement */
    stop: number | null;
  };
  /** Study enrollments. */
  study_enrollments: {
    /** subject */
    subjectid: number;
    /** study identifier */
    studyid: number;
    /** study name */
    studyname: string | null;
    /** investigator's name */
    studyinvestigator: string | null;
    /** review-board identifier of the study */
    studyirb: number | null;
    /** enrollment criteria */
    studycriteria: string | null;
    /** summary */
    studysummary: string | null;
    /** study start */
    studystart: number | null;
    /** study end */
    studystop: number | null;
    /** subject's status with the study */
    studystatusid: number | null;
    /** name of that status */
    studystatusname: string | null;
    /** subject's state in the study */
    studystateid: number | null;
    /** name of that state */
    studystatename: string | null;
    /** name of the person who changed the status */
    studychangebyname: string | null;
    /** comment on the status */
    studystatecomment: string | null;
    /** when the current status began */
    studystatestart: number | null;
    /** when the current status ends; 0 when open-ended */
    studystatestop: number | null;
    /** 1 = active, 0 = not active */
    active: number | null;
  };
  /** Scheduled contacts. */
  scheduled_contacts: {
    /** subject */
    subjectid: number;
    /** scheduled contact identifier */
    schedcontactid: number;
    /** name */
    schedcontactname: string | null;
    /** type */
    schedcontacttypename: string | null;
    /** number of units between contacts */
    increment: number | null;
    /** name of the unit */
    unitname: string | null;
    /** unit identifier */
    unitid: number | null;
    /** units after enrollment before the first contact */
    offset: number | null;
    /** 0 or 1, as the programme has it. By its name 1 is not planned, by the programme's description 1 is planned: dateplanned tells which */
    notplanned: number | null;
    /** 0 or 1, as the programme has it. By its name 1 is not scheduled, by the programme's description 1 is scheduled: datescheduled tells which */
    notscheduled: number | null;
    /** 0 or 1, as the programme has it. By its name 1 is not completed, by the programme's description 1 is completed: datecompleted tells which */
    notcompleted: number | null;
    /** date the contact was planned */
    dateplanned: string | null;
    /** date it was scheduled for */
    datescheduled: string | null;
    /** date it was completed */
    datecompleted: string | null;
  };
  /** Phones. */
  phones: {
    /** subject */
    subjectid: number;
    /** phone identifier */
    phoneid: number;
    /** phone number */
    phone: string | null;
  };
  /** Subject inventory. */
  subject_inventory: {
    /** subject */
    subjectid: number;
    /** item identifier */
    itemid: number;
    /** item name */
    itemname: string | null;
    /** serial number */
    serialnumber: string | null;
    /** MAC address */
    macaddress: string | null;
    /** model identifier */
    modelid: number | null;
    /** model name */
    modelname: string | null;
    /** 0 = no batteries, 1 = has batteries */
    hasbatteries: number | null;
    /** date of last battery change; the string "null" when absent */
    lastbatterychange: string;
    /** 0 = not specific to a home or subject, 1 = specific */
    subjectspecific: number | null;
    /** vendor identifier */
    vendorid: number | null;
    /** vendor */
    vendorname: string | null;
    /** type identifier */
    typeid: number | null;
    /** type name */
    typename: string | null;
    /** subtype identifier */
    subtypeid: number | null;
    /** subtype name; the string "null" when absent */
    subtypename: string;
    /** date and time the item was assigned to the subject */
    start: string | null;
    /** date and time it was unassigned */
    stop: string | null;
  };
  /** Contacts. */
  contacts: {
    /** subject */
    subjectid: number;
    /** type of contact */
    contacttypename: string | null;
    /** contact identifier */
    contactid: number;
    /** type identifier */
    contacttypeid: number | null;
    /** date of contact */
    contactdate: number | null;
    /** description of the contact */
    contactText: string | null;
    /** seconds past the start of the day when the contact began, as text */
    contactstarttime: string | null;
    /** seconds past the start of the day when it finished, as text */
    contactstoptime: string | null;
    /** duration identifier */
    durationid: number | null;
    /** duration */
    durationname: string | null;
    /** reason identifier */
    reasonid: number | null;
    /** reason for the contact */
    reasonname: string | null;
    /** user identifier */
    userid: number | null;
    /** user's name */
    username: string | null;
  };
  /** Comments. */
  comments: {
    /** subject */
    subjectid: number;
    /** comment identifier */
    commentid: number;
    /** when the comment was made */
    stamp: number | null;
    /** name of the user who made it */
    username: string | null;
    /** the comment */
    comment: string | null;
  };
  /** Alerts. */
  alerts: {
    /** subject */
    subjectid: number;
    /** alert type identifier */
    alerttypeid: number;
    /** category of the alert: a sensor, a data stream or a database object, mostly */
    alerttypename: string | null;
    /** descriptive message */
    alertmessage: string | null;
  };
  /** Home inventory. */
  home_inventory: {
    /** home */
    homeid: number;
    item: Records["items"];
    /** when the item was installed in the home */
    start: number | null;
    /** when it was taken away */
    stop: number | null;
  };
  /** Notes on time. */
  notes: {
    /** home */
    homeid: number;
    /** note identifier, unique in the home */
    noteid: number;
    /** item that the note is about; null: all of the home */
    itemid: number | null;
    /** subject that the note is about; null: all of the home */
    subjectid: number | null;
    /** what it says */
    kind: "visitor" | "away" | "hospital" | "furniture" | "sensor_moved" | "other";
    /** when that began */
    start: number;
    /** when that ended; null: it lasts */
    stop: number | null;
    /** more about it, in somebody's own words */
    words: string | null;
    /** who said it */
    source: "home" | "coordinator" | "import";
    /** when it was said */
    said: number | null;
  };
  /** Projects. */
  projects: {
    /** project identifier */
    projectid: number;
    /** project name */
    projectname: string | null;
    /** project start */
    start: number | null;
    /** project end */
    stop: number | null;
    /** 1 = active, 0 = not active */
    active: number | null;
  };
  /** Studies. */
  studies: {
    /** study identifier */
    studyid: number;
    /** study name */
    studyname: string | null;
    /** investigator's name */
    studyinvestigator: string | null;
    /** review-board identifier of the study */
    studyirb: number | null;
    /** enrollment criteria */
    studycriteria: string | null;
    /** summary */
    studysummary: string | null;
    /** study start */
    studystart: number | null;
    /** study end */
    studystop: number | null;
    /** 1 = active, 0 = not active */
    active: number | null;
  };
  /** Issues. */
  issues: {
    /** issue identifier */
    issueid: number;
    /** home that the issue concerns */
    homeid: number | null;
    /** subject that the issue concerns */
    subjectid: number | null;
    /** item that the issue concerns */
    itemid: number | null;
    /** type of issue */
    typename: string | null;
    /** where its mending stands */
    statusname: string | null;
    /** when the issue was opened */
    opened: number | null;
    /** when it was closed */
    closed: number | null;
    /** what is wrong */
    summary: string | null;
  };
  /** Consents to uses. */
  consents: {
    /** consent identifier */
    consentid: number;
    /** home that it is about; null: every home of the subject */
    homeid: number | null;
    /** subject who said it; null: it was said for the home */
    subjectid: number | null;
    /** use of the data */
    use: "identified" | "coded" | "shared";
    /** what was said to this use */
    answer: "refused" | "allowed";
    /** from when it holds */
    start: number;
    /** until when it holds; null: it lasts */
    stop: number | null;
  };
}

/** Where each list is served: below a subject or a home where the path has `{id}`. */
export const recordPaths = {
  homes: "/homes/",
  subjects: "/subjects/",
  project_enrollments: "/subjects/{id}/enrollment/projects/",
  study_enrollments: "/subjects/{id}/enrollment/studies/",
  scheduled_contacts: "/subjects/{id}/scheduled/contacts/",
  phones: "/subjects/{id}/phone/",
  subject_inventory: "/subjects/{id}/inventory/",
  contacts: "/subjects/{id}/contacts/",
  comments: "/subjects/{id}/comments/",
  alerts: "/subjects/{id}/alerts/",
  home_inventory: "/homes/{id}/inventory/",
  notes: "/homes/{id}/notes/",
  projects: "/projects/",
  studies: "/studies/",
  issues: "/issues/",
  consents: "/consents/",
} as const satisfies Record<Exclude<keyof Records, "items">, string>;
