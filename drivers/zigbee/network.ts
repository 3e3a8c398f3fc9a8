import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { channels } from "./channel.ts";

/** The identity of a Zigbee network. Made once, then kept: sensors know the network by these numbers. */
export type Network = Static<typeof networkSchema>;

const byte = Type.Integer({ minimum: 0, maximum: 255 });

const networkSchema = Type.Object({
  pan_id: Type.Integer({ minimum: 1, maximum: 0xfffe }),
  extended_pan_id: Type.Array(byte, { minItems: 8, maxItems: 8 }),
  channel: Type.Integer({ minimum: 11, maximum: 26 }),
  /** With this key anybody can read the traffic and join: never in a log, and only in files of mode 0600. */
  network_key: Type.Array(byte, { minItems: 16, maxItems: 16 }),
});

/** A network that nobody else has, from random bytes. */
export function newNetwork(random: (bytes: number) => Uint8Array): Network {
  const pan = random(2);
  const channel = channels[(random(1)[0] ?? 0) % channels.length] ?? channels[0];
  return {
    pan_id: 1 + ((((pan[0] ?? 0) << 8) | (pan[1] ?? 0)) % 0xfffd),
    extended_pan_id: [...random(8)],
    channel,
    network_key: [...random(16)],
  };
}

/** The network that `value` describes; undefined when it isn't one. */
export function networkOf(value: unknown): Network | undefined {
  return Value.Check(networkSchema, value) ? value : undefined;
}

/** The network of a coordinator backup (zigpy's open coordinator backup format, version 1). */
export function networkOfBackup(backup: unknown): Network | undefined {
  if (!Value.Check(backupSchema, backup)) return undefined;
  const extended_pan_id = Buffer.from(backup.extended_pan_id, "hex");
  return networkOf({
    pan_id: Number.parseInt(backup.pan_id, 16),
    extended_pan_id: [...(isOfEmber(backup) ? extended_pan_id.reverse() : extended_pan_id)],
    channel: backup.channel,
    network_key: [...Buffer.from(backup.network_key.key, "hex")],
  });
}

/** Whether a stick of Silicon Labs wrote a backup: it has addresses of 64 bits least significant byte first. */
export function isOfEmber({
  stack_specific,
}: {
  readonly stack_specific?: { readonly ezsp?: unknown };
}): boolean {
  return stack_specific?.ezsp !== undefined;
}

export function isCoordinatorBackup(value: unknown): boolean {
  return Value.Check(backupSchema, value);
}

const backupSchema = Type.Object({
  metadata: Type.Object({ format: Type.Literal("zigpy/open-coordinator-backup"), version: Type.Literal(1) }),
  pan_id: Type.String(),
  extended_pan_id: Type.String(),
  channel: Type.Integer(),
  network_key: Type.Object({ key: Type.String() }),
  stack_specific: Type.Optional(Type.Object({ ezsp: Type.Optional(Type.Unknown()) })),
});
