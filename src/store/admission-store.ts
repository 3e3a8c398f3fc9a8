import { type Static, Type } from "@sinclair/typebox";
import type { Device } from "../reading.ts";

/** The devices that a gateway listens to although anybody in radio range may claim to be one: see src/ingest/admission.ts. */
export interface AdmissionStore {
  admissions(): Promise<Admissions>;
  /** Keeps devices as admitted, each for the newest reason. */
  admit(admitted: readonly Admitted[]): Promise<void>;
  /** Removes that it was admitted, and its identity with what claims it: it may come back as a new device. Whether there was any of it until now. */
  forgetDevice(address: string): Promise<boolean>;
}

export interface Admissions {
  /** Devices of the inventory; provisional items are not in it. */
  readonly inventory: readonly Pick<Device, "kind" | "address">[];
  readonly admitted: readonly Admitted[];
}

/** A device that was let in, and when, unix milliseconds. */
export const Admitted = Type.Object({
  address: Type.String({ maxLength: 64 }),
  admitted_ms: Type.Integer({ minimum: 0 }),
  /** `hand`: `lintel items admit`. `joining`: it spoke while joining was open. `radio`: the configuration lets every device in. */
  reason: Type.Union([Type.Literal("hand"), Type.Literal("joining"), Type.Literal("radio")]),
});
export type Admitted = Readonly<Static<typeof Admitted>>;

/** Devices that may be admitted by hand. */
export const admitted_max = 1_000;
