import { readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import { drivers } from "../../drivers/index.ts";
import { configurationSections } from "../../src/config/gateway-config.ts";
import type { CommandNode } from "./command-tree.ts";

const root = normalize(join(import.meta.dir, "../.."));

/** Manual pages by their names: one of the program, one of each command, and one of the configuration. */
export function manualPages(tree: readonly CommandNode[], date: string): Map<string, string> {
  return new Map([
    ["lintel.1", programPage(tree, date)],
    ...tree.map((node) => [`lintel-${node.words[0]}.1`, commandPage(node, date)] as const),
    ["lintel.toml.5", configurationPage(date)],
  ]);
}

function programPage(tree: readonly CommandNode[], date: string): string {
  return page("lintel", 1, date, [
    ...section("NAME", "lintel \\- home gateway for research on ageing in place, and its central server"),
    ...section("SYNOPSIS", ".B lintel", "\\fIcommand\\fR [\\fIarguments\\fR]"),
    ".SH DESCRIPTION",
    ...prose(
      "Lintel listens to wireless sensors, pill boxes, scales and watches in a home, keeps what they say in a database that survives power cuts, serves it as JSON, and uploads it to a central server each night. The central server is the same program.",
    ),
    ".SH COMMANDS",
    ...tree.flatMap(({ words, summary }) => [
      ".TP",
      `.BR lintel\\-${words[0]} (1)`,
      ...prose(sentence(summary)),
    ]),
    ".SH FILES",
    ...listed("/etc/lintel/lintel.toml", "the configuration of a gateway: lintel.toml(5)"),
    ...listed("/etc/lintel/central.env", "options of a central server: lintel-central.service"),
    ...listed("/var/lib/lintel", "the data of a gateway, its own alone"),
    ...listed("/var/lib/lintel-central", "the data of a central server, its own alone"),
    ...listed("/usr/share/doc/lintel", "the documents, README.md first"),
    ".SH EXIT STATUS",
    ...listed("0", "all went well"),
    ...listed("1", "it went otherwise: the page of the command says how"),
    ...listed("2", "bad arguments, configuration or input: nothing changed"),
    ".SH SEE ALSO",
    `.BR lintel.toml (5)${tree.map(({ words }) => `,\n.BR lintel\\-${words[0]} (1)`).join("")}`,
  ]);
}

function commandPage(node: CommandNode, date: string): string {
  const name = `lintel-${node.words[0]}`;
  const all = flattened(node);
  return page(name, 1, date, [
    ...section("NAME", `${escaped(name)} \\- ${escaped(node.summary)}`),
    ".SH SYNOPSIS",
    ...all
      .filter(({ below, operands }) => below.length === 0 || operands.length > 0)
      .flatMap(({ words, usage }) => [`.B lintel ${escaped(words.join(" "))}`, escaped(usage), ".br"]),
    ...all.flatMap((one) => [
      ...(one === node
        ? []
        : [`.SH ${escaped(one.words.join(" ").toUpperCase())}`, ...prose(sentence(one.summary))]),
      ...contents(one, one === node),
    ]),
    ".SH SEE ALSO",
    ".BR lintel (1),\n.BR lintel.toml (5)",
  ]);
}

function contents({ operands, options, help }: CommandNode, outer: boolean): string[] {
  const heading = outer ? ".SH" : ".SS";
  const titled = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${heading} ${outer ? title.toUpperCase() : title}`, ...lines];
  const examples = Object.entries(help?.examples ?? {});
  const exits = Object.entries(help?.exits ?? {});
  return [
    ...titled("Description", help?.notes === undefined ? [] : prose(help.notes.join(" "))),
    ...titled(
      "Options",
      [
        ...operands.map(({ name, description }) => [name, description] as const),
        ...options.map(({ flags, description }) => [flags, description] as const),
      ].flatMap(([term, meaning]) => listed(term, meaning)),
    ),
    ...titled(
      "Examples",
      examples.flatMap(([line, meaning]) => listed(line, meaning)),
    ),
    ...titled(
      "Exit status",
      exits.flatMap(([code, meaning]) => listed(code, meaning)),
    ),
  ];
}

/** A command and all below it. */
function flattened(node: CommandNode): CommandNode[] {
  return [node, ...node.below.flatMap(flattened)];
}

function configurationPage(date: string): string {
  const sections = configurationSections(new Map(drivers.map(({ name, section: schema }) => [name, schema])));
  const example = readFileSync(join(root, "systemd/lintel.toml"), "utf8");
  return page("lintel.toml", 5, date, [
    ...section("NAME", "lintel.toml \\- configuration of a home gateway"),
    ".SH DESCRIPTION",
    ...prose(
      "The gateway reads /etc/lintel/lintel.toml, a file in TOML, at its start. A section that is absent is off. A key that is not known is an error that names the nearest one, with its line. lintel setup writes this file, and lintel doctor checks what it names.",
    ),
    ".SH KEYS",
    ...[...sections].flatMap(([name, schema]) =>
      schema["properties"] === undefined
        ? listed(name, described(schema))
        : [
            `.SS [${escaped(name)}]`,
            ...Object.entries<TSchema>(schema["properties"]).flatMap(([key, value]) =>
              listed(key, described(value)),
            ),
          ],
    ),
    ".SH EXAMPLE",
    ".nf",
    ...example.trimEnd().split("\n").map(escaped),
    ".fi",
    ".SH SEE ALSO",
    ".BR lintel\\-setup (1),\n.BR lintel\\-doctor (1),\n.BR lintel\\-run (1)",
  ]);
}

function described(schema: TSchema): string {
  return sentence(schema.description ?? "see the example below");
}

function page(name: string, part: number, date: string, lines: readonly string[]): string {
  return `.TH ${escaped(name.toUpperCase())} ${part} ${date} Lintel\n${lines.join("\n")}\n`;
}

function section(title: string, ...lines: string[]): string[] {
  return [`.SH ${title}`, ...lines];
}

function listed(term: string, meaning: string): string[] {
  return [".TP", `\\fB${escaped(term)}\\fR`, ...prose(sentence(meaning))];
}

function prose(text: string): string[] {
  return [escaped(text)];
}

function sentence(text: string): string {
  const begun = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.:!?]$/.test(begun) || begun === "" ? begun : `${begun}.`;
}

/** Text that troff prints as it is. */
function escaped(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-");
  return plain.replaceAll("…", "...").replace(/^(?=[.'])/, "\\&");
}
