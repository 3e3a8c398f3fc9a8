/**
 * Structures and requests of the kernel's GPIO character device, version 2 (`linux/gpio.h`, since 5.10), on little-endian machines. Names in
 * capitals are C's; `test/abi` holds them, and the layouts, to the kernel's header.
 */
export const GPIO_GET_CHIPINFO_IOCTL = 0x8044b401;
export const GPIO_V2_GET_LINE_IOCTL = 0xc250b407;
export const GPIO_V2_LINE_SET_VALUES_IOCTL = 0xc010b40f;
export const GPIO_V2_LINE_FLAG_ACTIVE_LOW = 1 << 1;
export const GPIO_V2_LINE_FLAG_INPUT = 1 << 2;
export const GPIO_V2_LINE_FLAG_OUTPUT = 1 << 3;
export const GPIO_V2_LINE_FLAG_EDGE_RISING = 1 << 4;
export const GPIO_V2_LINE_FLAG_EDGE_FALLING = 1 << 5;
export const GPIO_V2_LINE_FLAG_BIAS_PULL_UP = 1 << 8;
export const GPIO_V2_LINE_ATTR_ID_DEBOUNCE = 3;
export const GPIO_V2_LINE_EVENT_RISING_EDGE = 1;

/** `struct gpiochip_info`. */
export const chip_bytes = 68;
export const chipLabel_at = 32;
export const chipLines_at = 64;
/** `struct gpio_v2_line_request`. */
export const request_bytes = 592;
export const consumer_at = 256;
export const flags_at = 288;
export const attributeCount_at = 296;
export const attributes_at = 320;
export const lineCount_at = 560;
export const descriptor_at = 588;
/** `struct gpio_v2_line_config_attribute`. */
export const debounce_at = 8;
export const attributeMask_at = 16;
/** `struct gpio_v2_line_values`. */
export const values_bytes = 16;
export const mask_at = 8;
/** `struct gpio_v2_line_event`. */
export const event_bytes = 48;
export const eventId_at = 8;

export const GPIO_MAX_NAME_SIZE = 32;

/** The label of a chip and the number of its lines. */
export function decodeChip(bytes: Uint8Array): { label: string; lines: number } {
  const label = new TextDecoder().decode(bytes.subarray(chipLabel_at, chipLabel_at + GPIO_MAX_NAME_SIZE));
  return { label: label.split("\0")[0] ?? "", lines: viewOf(bytes).getUint32(chipLines_at, true) };
}

/** A request of one line; `debounce_us` only with an input. The kernel answers with the descriptor of the line. */
export function encodeRequest(options: {
  line: number;
  consumer: string;
  flags: number;
  debounce_us?: number;
}): Uint8Array {
  const { line, consumer, flags, debounce_us } = options;
  const bytes = new Uint8Array(request_bytes);
  const view = viewOf(bytes);
  view.setUint32(0, line, true);
  bytes.set(new TextEncoder().encode(consumer).subarray(0, GPIO_MAX_NAME_SIZE - 1), consumer_at);
  view.setBigUint64(flags_at, BigInt(flags), true);
  if (debounce_us !== undefined) {
    view.setUint32(attributeCount_at, 1, true);
    view.setUint32(attributes_at, GPIO_V2_LINE_ATTR_ID_DEBOUNCE, true);
    view.setUint32(attributes_at + debounce_at, debounce_us, true);
    view.setBigUint64(attributes_at + attributeMask_at, 1n, true);
  }
  view.setUint32(lineCount_at, 1, true);
  return bytes;
}

export function decodeDescriptor(request: Uint8Array): number {
  return viewOf(request).getInt32(descriptor_at, true);
}

/** The value of a request's only line. */
export function encodeValue(active: boolean): Uint8Array {
  const bytes = new Uint8Array(values_bytes);
  const view = viewOf(bytes);
  view.setBigUint64(0, active ? 1n : 0n, true);
  view.setBigUint64(mask_at, 1n, true);
  return bytes;
}

/** Which of the edges in `bytes` are rising ones: as many as there are whole events. */
export function decodeEdges(bytes: Uint8Array): boolean[] {
  const view = viewOf(bytes);
  const edges: boolean[] = [];
  for (let at = 0; at + event_bytes <= bytes.length; at += event_bytes)
    edges.push(view.getUint32(at + eventId_at, true) === GPIO_V2_LINE_EVENT_RISING_EDGE);
  return edges;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
