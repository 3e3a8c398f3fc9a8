import { expect, test } from "bun:test";
import { constants } from "node:fs";
import { join } from "node:path";
import * as gpio from "../../drivers/gpio/uapi.ts";
import { Epoll } from "../../drivers/native/epoll/index.ts";
import * as epoll from "../../drivers/native/epoll/libc.ts";
import * as modem from "../../drivers/native/serialport/modem.ts";
import * as termios from "../../drivers/native/serialport/termios.ts";
import * as pty from "../../drivers/wire/pty.ts";
import * as kernelClock from "../../src/base/clock.ts";
import * as service from "../../src/cli/serving.ts";
import * as sockets from "../../src/web/server/client-connections.ts";
import { root, sourceFiles } from "../../testbed/source-files.ts";
import { type Headers, headers, type Processor, valuesOn } from "./table.ts";

const here = process.arch as Processor;
const table = valuesOn(here);

/** `const NAME = …`: a name in C's spelling is C's. */
const named = /^(?:export )?const ([A-Z][A-Z0-9_]*) = /gm;
const program = (await sourceFiles()).filter(
  ({ path }) => /^(src|drivers)\//.test(path) && !path.includes("/test/"),
);

test("every constant of the program that has its name from C has its value too", async () => {
  const faults: string[] = [];
  for (const { path, text } of program) {
    for (const [, name = ""] of text.matchAll(named)) {
      const value = (await import(join(root, path)))[name];
      if (value === undefined) faults.push(`${path}: ${name} is not exported, and nothing can compare it`);
      else if (value !== table[name]) faults.push(`${path}: ${name} is ${value}, in C ${table[name]}`);
    }
  }
  expect(faults).toEqual([]);
});

test("the structures have C's layout", () => {
  const layouts = {
    "sizeof(struct termios2)": termios.termios2_bytes,
    "offsetof(struct termios2, c_iflag)": termios.iflag_at,
    "offsetof(struct termios2, c_cflag)": termios.cflag_at,
    "offsetof(struct termios2, c_cc)": termios.cc_at,
    "offsetof(struct termios2, c_ispeed)": termios.ispeed_at,
    "offsetof(struct termios2, c_ospeed)": termios.ospeed_at,
    "sizeof(struct serial_struct)": modem.serial_bytes,
    "offsetof(struct serial_struct, flags)": modem.flags_at,
    "sizeof(struct gpiochip_info)": gpio.chip_bytes,
    "offsetof(struct gpiochip_info, label)": gpio.chipLabel_at,
    "offsetof(struct gpiochip_info, lines)": gpio.chipLines_at,
    "sizeof(struct gpio_v2_line_request)": gpio.request_bytes,
    "offsetof(struct gpio_v2_line_request, offsets)": 0,
    "offsetof(struct gpio_v2_line_request, consumer)": gpio.consumer_at,
    "offsetof(struct gpio_v2_line_request, config.flags)": gpio.flags_at,
    "offsetof(struct gpio_v2_line_request, config.num_attrs)": gpio.attributeCount_at,
    "offsetof(struct gpio_v2_line_request, config.attrs)": gpio.attributes_at,
    "offsetof(struct gpio_v2_line_request, num_lines)": gpio.lineCount_at,
    "offsetof(struct gpio_v2_line_request, fd)": gpio.descriptor_at,
    "offsetof(struct gpio_v2_line_config_attribute, attr.debounce_period_us)": gpio.debounce_at,
    "offsetof(struct gpio_v2_line_config_attribute, mask)": gpio.attributeMask_at,
    "sizeof(struct gpio_v2_line_values)": gpio.values_bytes,
    "offsetof(struct gpio_v2_line_values, mask)": gpio.mask_at,
    "sizeof(struct gpio_v2_line_event)": gpio.event_bytes,
    "offsetof(struct gpio_v2_line_event, id)": gpio.eventId_at,
    "sizeof(struct epoll_event)": epoll.event_bytes,
    "offsetof(struct epoll_event, data)": epoll.data_at,
    "sizeof(struct rlimit)": sockets.limits_bytes,
    "sizeof(struct sockaddr_in6)": sockets.address_bytes,
    "offsetof(struct sockaddr_in, sin_port)": sockets.port_at,
    "offsetof(struct sockaddr_in, sin_addr)": sockets.ipv4_at,
    "offsetof(struct sockaddr_in6, sin6_port)": sockets.port_at,
    "offsetof(struct sockaddr_in6, sin6_addr)": sockets.ipv6_at,
    "offsetof(struct tcp_info, tcpi_last_data_sent)": sockets.lastDataSent_at,
    "offsetof(struct tcp_info, tcpi_last_data_recv)": sockets.lastDataReceived_at,
    "offsetof(struct dirent, d_name)": sockets.name_at,
    "offsetof(struct sockaddr_un, sun_path)": service.path_at,
    "sizeof(((struct sockaddr_un *)0)->sun_path)": service.path_bytes_max + 1,
    "sizeof(struct termios)": pty.termios_bytes,
    "sizeof(struct timex)": kernelClock.timex_bytes,
    "offsetof(struct timex, status)": kernelClock.status_offset,
  };
  expect(layouts).toEqual(where((name) => name.includes("(")) as typeof layouts);
});

test("the rates are those that have a name in C, with their flags", () => {
  const line = { dataBits: 8, stopBits: 1, parity: "none", vmin: 1, vtime: 0 };
  const off = { rtscts: false, xon: false, xoff: false, xany: false, hupcl: false };
  const rates = termios.standardRates.map((baudRate) => {
    const flags = termios.encodeLine({ ...line, ...off, baudRate }).getUint32(termios.cflag_at, true);
    return [`B${baudRate}`, flags & termios.CBAUD];
  });
  expect(Object.fromEntries(rates)).toEqual(where((name) => /^B\d/.test(name)));
});

test("the events of epoll are C's", () => {
  const events = Object.entries(Epoll).filter(([name]) => name.startsWith("EPOLL"));
  expect(Object.fromEntries(events)).toEqual(where((name) => /^EPOLL[A-Z]+$/.test(name)));
});

test("the flags of open that Bun has are C's", () => {
  const flags = where((name) => name.startsWith("O_") && name !== "O_CLOEXEC");
  expect(Object.keys(flags).length).toBeGreaterThan(0);
  expect(constants).toMatchObject(flags);
});

/** For each processor its compiler, by the names that it has on either. */
const compilers: readonly [Processor, string][] = [
  ["x64", here === "x64" ? "gcc" : "x86_64-linux-gnu-gcc"],
  ["arm64", here === "arm64" ? "gcc" : "aarch64-linux-gnu-gcc"],
];

for (const [processor, compiler] of compilers) {
  const found = Bun.which(compiler);
  const name = `the headers of C say the same for ${processor}${found ? "" : ` (skipped: no ${compiler} here)`}`;
  test.skipIf(found === null)(name, () => {
    for (const part of headers) {
      const compiled = Bun.spawnSync([compiler, "-fsyntax-only", "-x", "c", "-"], {
        stdin: Buffer.from(assertions(part, processor)),
      });
      expect(compiled.stderr.toString()).toBe("");
      expect(compiled.exitCode).toBe(0);
    }
  });
}

/** A C program that compiles where the table is right. */
function assertions({ include, values }: Headers, processor: Processor): string {
  const known = valuesOn(processor);
  return [
    "#define _GNU_SOURCE",
    "#include <stddef.h>",
    ...include.map((header) => `#include <${header}>`),
    ...Object.keys(values).map((name) => `_Static_assert((long)(${name}) == ${known[name]}L, "${name}");`),
    "",
  ].join("\n");
}

function where(chosen: (name: string) => boolean): Record<string, number> {
  return Object.fromEntries(Object.entries(table).filter(([name]) => chosen(name)));
}
