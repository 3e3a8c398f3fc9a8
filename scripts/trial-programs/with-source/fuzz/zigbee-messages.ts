import { Zcl } from "zigbee-herdsman";
import type { Definition, Fz } from "zigbee-herdsman-converters/lib/types";
import type { StandInDevice } from "../../../../testbed/stand-in-device.ts";

/** A message as zigbee-herdsman tells it, less its device and endpoint. */
export interface GeneratedMessage {
  readonly cluster: string;
  readonly type: string;
  readonly data: unknown;
}

type AnyConverter = Fz.Converter<string | number>;

/** Messages that a converter takes, with plausible data of each attribute or parameter that its cluster has. */
export function messagesFor(
  converter: AnyConverter,
  definition: Definition,
  device: StandInDevice,
): GeneratedMessage[] {
  const cluster = String(converter.cluster);
  const types = [converter.type].flat().map(String);
  const told = ["attributeReport", "readResponse", "write"].find((type) => types.includes(type));
  const commands = types.filter((type) => type.startsWith("command"));
  return [
    ...(told === undefined
      ? []
      : attributeData(converter, cluster, device).map((data) => ({ cluster, type: told, data }))),
    ...commands.flatMap((type) =>
      commandData(cluster, type, definition, device).map((data) => ({ cluster, type, data })),
    ),
    ...(types.includes("raw") ? rawData.map((data) => ({ cluster, type: "raw", data })) : []),
  ];
}

const rawData = ["1c5f11030a01ff", "18010a0000", "0901020001690400010101"].map((hex) =>
  Buffer.from(hex, "hex"),
);

/** Strings of a maker's own that hold a structure. */
const structures: Readonly<Record<string, readonly object[]>> = {
  genBasic: [
    { 65281: { 1: 3035, 3: 28, 4: 424, 5: 73, 6: [0, 5], 10: 0, 100: 1, 101: 2150, 102: 101300 } },
    { 65281: { 1: 2900, 3: 21, 5: 2, 10: 0, 11: 25, 100: 0, 152: 1.5 } },
  ],
  manuSpecificLumi: [
    { 247: Buffer.from("0121db0b03281c0521490008211e010a210000642000652120000c2014", "hex") },
    { 247: Buffer.from("0121540b0328150521020064200165210100", "hex") },
  ],
};

function attributeData(converter: AnyConverter, cluster: string, device: StandInDevice): object[] {
  const attributes = Object.values(device.clusterOf(cluster)?.attributes ?? {});
  const each = attributes.flatMap(({ name, type }) => valuesOf(type).map((value) => ({ [name]: value })));
  const all = Object.fromEntries(
    attributes.flatMap(({ name, type }) =>
      valuesOf(type)
        .slice(1, 2)
        .map((value) => [name, value]),
    ),
  );
  // Attributes that its text asks for by number.
  const source = converter.convert.toString();
  const numbers = [...source.matchAll(/\[["']?(0x[0-9a-f]+|\d{1,5})["']?\]/gi)].map(([, key]) => Number(key));
  const numbered = [...new Set(numbers)].flatMap((key) => [0, 1, 2, 100].map((value) => ({ [key]: value })));
  return [...each, all, ...numbered, ...(structures[cluster] ?? [])];
}

function commandData(cluster: string, type: string, definition: Definition, device: StandInDevice): object[] {
  const name = type.charAt("command".length).toLowerCase() + type.slice("command".length + 1);
  const known = device.clusterOf(cluster);
  const command = known?.commandsResponse?.[name] ?? known?.commands?.[name];
  if (command === undefined) return [];
  const points = definition.meta?.tuyaDatapoints;
  if (cluster === "manuSpecificTuya" && points !== undefined && /Report|Response$/.test(type))
    return points.flatMap(([dp]) => dataPoints(dp).map((value) => ({ seq: 1, dpValues: [value] })));
  if (type === "commandStatusChangeNotification")
    return [0, 1, 2, 4, 8, 0x35].map((zonestatus) => ({
      zonestatus,
      extendedstatus: 0,
      zoneID: 23,
      delay: 0,
    }));
  const parameters = command.parameters ?? [];
  const variants = parameters.length === 0 ? 1 : 4;
  return Array.from({ length: variants }, (_, variant) =>
    Object.fromEntries(
      parameters.map(({ name: parameter, type: dataType }) => {
        const values = valuesOf(dataType);
        return [parameter, values[variant % Math.max(1, values.length)]];
      }),
    ),
  );
}

/** A data point of Tuya's in each of its types: boolean, number, choice, and bytes. */
function dataPoints(dp: number): object[] {
  const of = (datatype: number, ...bytes: number[]) => ({ dp, datatype, data: Buffer.from(bytes) });
  return [
    of(1, 0),
    of(1, 1),
    of(2, 0, 0, 0, 0),
    of(2, 0, 0, 0, 100),
    of(2, 0, 0, 8, 102),
    of(4, 0),
    of(4, 1),
    of(4, 2),
    of(0, 8, 252, 0, 1, 244, 0, 100, 0),
  ];
}

const { DataType, BuffaloZclDataType } = Zcl;
const lists: readonly number[] = [
  BuffaloZclDataType.LIST_UINT8,
  BuffaloZclDataType.LIST_UINT16,
  BuffaloZclDataType.LIST_UINT24,
  BuffaloZclDataType.LIST_UINT32,
];

/** Plausible values of a data type; none for those that are made of others. */
function valuesOf(type: number): unknown[] {
  const within = (bits: number, signed: boolean) =>
    [0, 1, 2, 100, 2150, ...(signed ? [-5] : [])].filter((value) => value < 2 ** (signed ? bits - 1 : bits));
  const bits = (first: number) => 8 * (type - first + 1);
  if (type === DataType.BOOLEAN) return [0, 1];
  if (type >= DataType.BITMAP8 && type <= DataType.BITMAP32) return within(bits(DataType.BITMAP8), false);
  if (type >= DataType.UINT8 && type <= DataType.UINT48) return within(bits(DataType.UINT8), false);
  if (type >= DataType.INT8 && type <= DataType.INT48) return within(bits(DataType.INT8), true);
  if (type === DataType.ENUM8 || type === DataType.ENUM16) return [0, 1, 2, 3];
  if (type >= DataType.SEMI_PREC && type <= DataType.DOUBLE_PREC) return [0, 1.5, 21.7];
  if (type === DataType.UTC) return [0, 800_000_000];
  if (type === DataType.CHAR_STR || type === DataType.LONG_CHAR_STR) return ["", "1.0.0"];
  if (type === DataType.OCTET_STR || type === DataType.LONG_OCTET_STR || type === BuffaloZclDataType.BUFFER)
    return [Buffer.alloc(8), Buffer.from("0102030405060708", "hex")];
  if (type === DataType.IEEE_ADDR) return ["0x000d6f0000000001"];
  return lists.includes(type) ? [[], [1, 2, 3, 4, 5, 6, 7, 8]] : [];
}
