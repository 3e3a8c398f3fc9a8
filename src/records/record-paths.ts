import type { RecordType } from "./record-table.ts";

/**
 * Where each list of records is served, below the version: below a subject or home where the path has `{id}`.
 * Items have a list for each kind.
 */
export const recordPaths: Readonly<Record<Exclude<RecordType, "items">, string>> = {
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
  projects: "/projects/",
  studies: "/studies/",
  issues: "/issues/",
};
