// Made by `bun scripts/generate-clients.ts` from src/domain/series.ts and src/domain: change those, then run it.

/** An element of the list of item types. */
export interface ItemType {
  /** item type identifier */
  typeid: number;
  /** item type name, as paths use it */
  typename: string;
  /** items of this type in the inventory */
  count: number;
}

/** A stretch of time of an item of which one thing is known: without it no event cannot be told from no data. */
export interface Coverage {
  /** start of the interval */
  start: number;
  /** end of the interval, not included; where it lies in the same second, its start */
  stop: number;
  /** covered: its driver was listening and the device alive: no event means that nothing happened; silent: the device was not heard for too long: it may be out of range, or its battery empty; not_listening: the gateway or the driver was down; paused: nobody had consented to a recording, or the home had asked for a pause: nothing of that time is kept; gap: the device or driver knows that something is missing, or that there was nothing to record */
  state: "covered" | "silent" | "not_listening" | "paused" | "gap";
  /** null where it was covered; device_silent: silent for more than one and a half times its heartbeat; gateway_down: the gateway was not running; driver_down: the driver did not hear its hardware; recording_paused: recording was paused; consent_withdrawn: the consent to record was withdrawn; enrollment_ended: the enrollment in the project had ended; overwritten: events were overwritten on the device before they were fetched; missed_broadcasts: the device counted events whose broadcasts were not heard; missed_window: the device did not answer while its radio was said to be on; not_worn: the device was not worn */
  reason:
    | "device_silent"
    | "gateway_down"
    | "driver_down"
    | "recording_paused"
    | "consent_withdrawn"
    | "enrollment_ended"
    | "overwritten"
    | "missed_broadcasts"
    | "missed_window"
    | "not_worn"
    | null;
  /** how many events are missing, where the device tells */
  lost: number | null;
}

/** The device of an item, and how its readings are made. */
export interface Device {
  /** model, as the inventory has it or the device tells it */
  model: string | null;
  /** who makes it */
  vendor: string | null;
  /** the driver of the gateway that heard it last */
  driver: string | null;
  /** version of its firmware, as the device tells it */
  firmware: string | null;
  /** date of its firmware or of its making, as the device tells it */
  datecode: string | null;
  /** the device in a few words */
  description: string | null;
  /** received: events (of devices that have none, readings) are what the device sent; translated: they are made of something else */
  events: "received" | "translated" | null;
  /** what events are made of, in the words of its protocol */
  eventsfrom: string | null;
  /** quantities that it is able to measure */
  measures: {
    /** name of the quantity */
    quantity: string;
    /** unit that it is recorded in; empty where it has none */
    unit: string;
  }[];
  /** states that one would expect of it and that it never tells */
  nevertells: string[];
  /** for how long after an event it sees nothing (s) */
  blind: number | null;
  /** how often it is heard although nothing happens (s); null where it is silent until it is used */
  cadence: number | null;
  /** in what it tells its battery, before that becomes per cent or millivolts */
  batteryunit: string | null;
  /** charge of its battery, as it was told last (%) */
  battery: number | null;
  /** voltage of its battery, as it was told last (mV) */
  batteryvoltage: number | null;
  /** what it was from when to when, newest first; the first is what it is now */
  history: {
    /** when this was first known */
    start: number;
    /** when it was known to be otherwise; null: it is so now */
    stop: number | null;
    /** model, as the device itself told it */
    model: string | null;
    /** version of its firmware, as the device tells it */
    firmware: string | null;
    /** date of its firmware or of its making, as the device tells it */
    datecode: string | null;
    /** the device in a few words */
    description: string | null;
    /** received: events (of devices that have none, readings) are what the device sent; translated: they are made of something else */
    events: "received" | "translated" | null;
    /** what events are made of, in the words of its protocol */
    eventsfrom: string | null;
    /** quantities that it is able to measure */
    measures: {
      /** name of the quantity */
      quantity: string;
      /** unit that it is recorded in; empty where it has none */
      unit: string;
    }[];
    /** states that one would expect of it and that it never tells */
    nevertells: string[];
    /** for how long after an event it sees nothing (s) */
    blind: number | null;
    /** how often it is heard although nothing happens (s); null where it is silent until it is used */
    cadence: number | null;
    /** in what it tells its battery, before that becomes per cent or millivolts */
    batteryunit: string | null;
  }[];
}

/** The body of every refusal. */
export interface ErrorRecord {
  /** numeric code of the error */
  code: number;
  /** description of the error code */
  message: string;
}

/** Remedies of errors, by code, where its message does not say it. */
export const remedies: Readonly<Record<number, string>> = {
  0: "ask again; if it stays, whoever keeps the server finds a line in its log",
  40101: "give the token, which `lintel token create NAME` prints",
  40102: "ask the server's keeper for a new token: lintel token create NAME",
  40103: "look whether the whole token was copied, and whether it is one of this server",
  40104: "ask the server's keeper for a token that reads: lintel token create NAME",
  40401: "look at the address and its version: /v0.9",
  40402: "the list of item types has their names",
  40403: "the list of items of that type has their names; a token that is bound sees its own alone",
  40404: "the list of these records has their numbers; a token that is bound sees its own alone",
  41001: "begin again without a cursor",
};
