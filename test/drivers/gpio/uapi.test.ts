import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as uapi from "../../../drivers/gpio/uapi.ts";

const compiler = Bun.which("cc");

/** The bytes that C makes of a structure of `linux/gpio.h`, with these statements on `it`. */
function inC(structure: string, statements: string): string {
  const directory = mkdtempSync(join(tmpdir(), "lintel-uapi-"));
  try {
    const program = `#include <linux/gpio.h>
#include <stdio.h>
#include <string.h>
int main(void) {
  struct ${structure} it;
  memset(&it, 0, sizeof it);
  ${statements}
  for (size_t at = 0; at < sizeof it; at++) printf("%02x", ((unsigned char *)&it)[at]);
}`;
    const built = Bun.spawnSync([compiler ?? "", "-x", "c", "-o", join(directory, "it"), "-"], {
      stdin: Buffer.from(program),
    });
    expect(built.stderr.toString()).toBe("");
    return Bun.spawnSync([join(directory, "it")]).stdout.toString();
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test.skipIf(compiler === null)("a request of a button's line has the bytes that C makes", () => {
  const bytes = uapi.encodeRequest({
    line: 27,
    consumer: "lintel",
    flags:
      uapi.GPIO_V2_LINE_FLAG_INPUT | uapi.GPIO_V2_LINE_FLAG_BIAS_PULL_UP | uapi.GPIO_V2_LINE_FLAG_EDGE_RISING,
    debounce_us: 30_000,
  });
  const same = inC(
    "gpio_v2_line_request",
    `it.offsets[0] = 27; it.num_lines = 1; strcpy(it.consumer, "lintel");
  it.config.flags = GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_BIAS_PULL_UP | GPIO_V2_LINE_FLAG_EDGE_RISING;
  it.config.num_attrs = 1; it.config.attrs[0].mask = 1;
  it.config.attrs[0].attr.id = GPIO_V2_LINE_ATTR_ID_DEBOUNCE; it.config.attrs[0].attr.debounce_period_us = 30000;`,
  );
  expect(Buffer.from(bytes).toString("hex")).toBe(same);
});

test.skipIf(compiler === null)("chips, descriptors, values and edges are read and written as C does", () => {
  const chip = inC(
    "gpiochip_info",
    'strcpy(it.name, "gpiochip4"); strcpy(it.label, "pinctrl-rp1"); it.lines = 54;',
  );
  expect(uapi.decodeChip(Buffer.from(chip, "hex"))).toEqual({ label: "pinctrl-rp1", lines: 54 });
  expect(uapi.decodeDescriptor(Buffer.from(inC("gpio_v2_line_request", "it.fd = 12;"), "hex"))).toBe(12);
  const value = inC("gpio_v2_line_values", "it.mask = 1; it.bits = 1;");
  expect(Buffer.from(uapi.encodeValue(true)).toString("hex")).toBe(value);
  const edge = (id: string) =>
    inC("gpio_v2_line_event", `it.id = GPIO_V2_LINE_EVENT_${id}_EDGE; it.offset = 27;`);
  const edges = Buffer.from(edge("RISING") + edge("FALLING"), "hex");
  expect(uapi.decodeEdges(edges)).toEqual([true, false]);
  // Cut short, which a read never is.
  expect(uapi.decodeEdges(edges.subarray(0, 60))).toEqual([true]);
});
