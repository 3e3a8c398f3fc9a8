/** The statuses of an item, statusid to statusname. The ids are stored and served: add, never renumber. */
export const itemStatus = {
  assigned: { statusid: 1, statusname: "Assigned" },
  received: { statusid: 2, statusname: "Received" },
  decommissioned: { statusid: 3, statusname: "Decommissioned" },
} as const;
