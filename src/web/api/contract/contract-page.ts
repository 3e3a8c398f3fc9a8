import { html, Markup } from "../../server/markup.ts";
import { readingHeaders, readingStyle } from "../../server/reading-style.ts";
import { newestVersion, versions } from "../versions.ts";
import rules from "./contract-page.css" with { type: "text" };
import type { Contract, Operation } from "./openapi.ts";
import type { JsonObject } from "./openapi-examples.ts";

/** Paragraphs, lists and `code`: the part of Markdown that the contract's texts use. */
export function fromMarkdown(text: string): Markup {
  const blocks = text.split("\n\n").map((block) => {
    const lines = block.split("\n");
    return lines.every((line) => line.startsWith("- "))
      ? html`<ul>${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`
      : html`<p>${inline(block)}</p>`;
  });
  return html`${blocks}`;
}

/** Text with `code` in it. */
export function inline(text: string): Markup {
  return html`${text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/**
 * A version's contract as a page for people: one document without scripts, images or anything else to load, so
 * that it works where there is no internet.
 *
 * @param origin scheme and host that the example requests name
 */
export function pageOf(contract: Contract, origin: string): string {
  const { version, description } = contract.info;
  const base = `${origin}${contract.servers[0]?.url ?? ""}`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lintel interface ${version}</title>
<style>${styleMarkup}</style>
</head>
<body>
${navigation(contract)}
<main>
<h1>Interface, version ${version}</h1>
${fromMarkdown(description)}
<pre>TOKEN=…
${curl(`${base}/…`)}</pre>
<p>The same for programs: <a href="${contract.servers[0]?.url ?? ""}/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
${contract.tags.map((tag) => area(contract, tag, base))}
${records(contract)}
</main>
</body>
</html>
`;
  return page.text;
}

const pageStyle = `${readingStyle}${rules}`;
export const pageHeaders = readingHeaders(pageStyle, { isLinked: false });

const styleMarkup = new Markup(pageStyle);

function navigation(contract: Contract): Markup {
  const { version } = contract.info;
  const links = versions
    .toReversed()
    .map((other) =>
      other === version
        ? html`<a href="/v${other}/docs" aria-current="page">${other}</a>`
        : html`<a href="/v${other}/docs">${other}</a>`,
    );
  return html`<nav aria-label="Contents">
<p class="brand">Lintel</p>
<div class="versions" role="group" aria-label="Versions, newest ${newestVersion}">${links}</div>
<details class="contents fold"><summary>Contents</summary>${contract.tags.map(
    ({ name }) => html`<h2>${name}</h2>
<ul>${operationsOf(contract, name).map(([, { operationId, summary }]) => html`<li><a href="#${operationId}">${shortened(summary)}</a></li>`)}</ul>`,
  )}
<h2>Records</h2>
<ul>${Object.keys(contract.components.schemas).map((name) => html`<li><a href="#${name}">${titleOf(contract, name)}</a></li>`)}</ul></details>
</nav>`;
}

function area(contract: Contract, tag: Contract["tags"][number], base: string): Markup {
  return html`<section>
<h2>${tag.name}</h2>
<p>${tag.description}</p>
${operationsOf(contract, tag.name).map(([path, operation]) => endpointArticle(contract, { path, operation, base }))}
</section>
`;
}

function endpointArticle(
  contract: Contract,
  { path, operation, base }: { path: string; operation: Operation; base: string },
): Markup {
  const parameters = operation.parameters.map((parameter) =>
    resolved(contract.components.parameters, parameter),
  );
  const { "200": success, ...refusals } = operation.responses;
  const paged = parameters.some(({ name }) => name === "limit");
  return html`<article id="${operation.operationId}">
<details class="fold"><summary><h3>${operation.summary}</h3>
<span class="path"><span class="method">GET</span> <span>${path}</span></span></summary>
<pre>${curl(`${base}${example(path)}${paged ? "?limit=10" : ""}`)}</pre>
${parameters.length === 0 ? undefined : parameterTable(parameters)}
<p class="answer">Answer: ${answerText(contract, success)}, such as</p>
<pre>${exampleText(contract, success)}</pre>
<details><summary>What may go wrong</summary>
<table><thead><tr><th>Status</th><th>Code</th><th>Message</th></tr></thead><tbody>
${Object.entries(refusals).map(([status, refusal]) => errorRows(status, resolved(contract.components.responses, refusal)))}
</tbody></table></details>
</details></article>
`;
}

/** An answer as it comes, a line for each field; a list with one record. */
function exampleText(contract: Contract, success: JsonObject | undefined): string {
  const schema = schemaOf(success);
  const component = contract.components.schemas[baseName(schema) ?? ""];
  const [record] = (component?.["examples"] ?? []) as JsonObject[];
  return JSON.stringify(schema["type"] === "array" ? [record] : record, null, 2);
}

function curl(address: string): string {
  return [
    'curl -H "Authorization: bearer $TOKEN" \\',
    '  -H "Accept: application/json" \\',
    `  "${address}"`,
  ].join("\n");
}

/** A path as a request has it, with something in every place. */
function example(path: string): string {
  const values: Readonly<Record<string, string>> = { id: "1", typename: "wirelesssensors" };
  return path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? name.toUpperCase());
}

function parameterTable(parameters: readonly JsonObject[]): Markup {
  return html`<table><thead><tr><th>Parameter</th><th>Value</th><th>Meaning</th></tr></thead><tbody>
${parameters.map(
  ({ name, schema, description }) =>
    html`<tr><td><code>${String(name)}</code></td><td>${valueText(schema as JsonObject)}</td><td>${inline(String(description ?? ""))}</td></tr>
`,
)}</tbody></table>`;
}

function answerText(contract: Contract, success: JsonObject | undefined): Markup {
  const schema = schemaOf(success);
  const name = baseName(schema);
  const record = name === undefined ? html`` : html`<a href="#${name}">${titleOf(contract, name)}</a>`;
  return schema["type"] === "array" ? html`list of ${record}` : html`one ${record}`;
}

function errorRows(status: string, refusal: JsonObject): Markup[] {
  const content = refusal["content"] as
    | Record<string, { examples: Record<string, { value: JsonObject }> }>
    | undefined;
  const examples = Object.values(content?.["application/json"]?.examples ?? {});
  return examples.map(
    ({ value }) =>
      html`<tr><td>${status}</td><td>${String(value["code"])}</td><td>${String(value["message"])}</td></tr>
`,
  );
}

function records(contract: Contract): Markup {
  return html`<section>
<h2>Records</h2>
<p>Fields in the order in which they are served.</p>
${Object.entries(contract.components.schemas).map(
  ([name, schema]) => html`<article id="${name}">
<details class="fold"><summary><h3>${titleOf(contract, name)}</h3></summary>
<table><thead><tr><th>Field</th><th>Value</th><th>Meaning</th></tr></thead><tbody>
${Object.entries(schema["properties"] as Record<string, JsonObject>).map(
  ([field, value]) =>
    html`<tr><td><code>${field}</code></td><td>${fieldText(value)}</td><td>${String(value["description"] ?? "")}</td></tr>
`,
)}</tbody></table>
</details></article>
`,
)}</section>
`;
}

function fieldText(schema: JsonObject): Markup {
  const name = baseName(schema);
  return name === undefined ? html`${valueText(schema)}` : html`<a href="#${name}">${valueText(schema)}</a>`;
}

function operationsOf(contract: Contract, area: string): [path: string, operation: Operation][] {
  const operations = Object.entries(contract.paths).map(([path, { get }]): [string, Operation] => [
    path,
    get,
  ]);
  return operations.filter(([, { tags }]) => tags.some((tag) => tag === area));
}

function resolved(components: Readonly<Record<string, JsonObject>>, part: JsonObject): JsonObject {
  const reference = part["$ref"];
  if (typeof reference !== "string") return part;
  return components[reference.split("/").at(-1) ?? ""] ?? part;
}

function schemaOf(response: JsonObject | undefined): JsonObject {
  const content = response?.["content"] as Record<string, { schema: JsonObject }> | undefined;
  return content?.["application/json"]?.schema ?? {};
}

function titleOf(contract: Contract, name: string): string {
  return String(contract.components.schemas[name]?.["title"] ?? name);
}

/** A summary as an entry of the contents: without what follows its first comma, but for the kind of item that it is about. */
function shortened(summary: string): string {
  const [, kind = ""] = /(:[^:]*)$/.exec(summary) ?? [];
  return `${summary.split(",")[0] ?? summary}${summary.includes(",") ? kind : ""}`;
}

/** The values that a schema allows, in a few words. */
export function valueText(schema: JsonObject): string {
  const parts = [formText(schema), ...boundTexts(schema)];
  if (schema["default"] !== undefined) parts.push(`default ${String(schema["default"])}`);
  return parts.join(", ");
}

/** The component that a schema refers to, itself or for the elements of its list. */
export function baseName(schema: JsonObject): string | undefined {
  const { $ref: reference, items } = schema;
  if (typeof reference === "string") return reference.split("/").at(-1);
  return items === undefined ? undefined : baseName(items as JsonObject);
}

function formText(schema: JsonObject): string {
  const { type, format, anyOf, const: constant, items } = schema;
  const reference = baseName(schema);
  if (type === "array") return `list of ${reference ?? formText(items as JsonObject)}`;
  if (reference !== undefined) return reference;
  if (Array.isArray(anyOf)) return anyOf.map(formText).join(" or ");
  if (constant !== undefined) return String(constant);
  if (format === "unixtime") return "unix time";
  if (format === "date-time") return "time, ISO 8601 GMT";
  return String(type);
}

function boundTexts({ format, minimum, maximum }: JsonObject): string[] {
  if (format === "unixtime" || (minimum === undefined && maximum === undefined)) return [];
  if (maximum === Number.MAX_SAFE_INTEGER) return minimum === 0 ? ["from 0"] : [];
  if (maximum === undefined) return [`from ${grouped(minimum)}`];
  return [minimum === undefined ? `to ${grouped(maximum)}` : `${grouped(minimum)} to ${grouped(maximum)}`];
}

/** 1000000 as 1,000,000. */
function grouped(number: unknown): string {
  return Number(number).toLocaleString("en");
}
