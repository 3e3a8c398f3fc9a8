import type { CommandNode } from "./command-tree.ts";

/** Scripts that complete the words of a command line, one for each shell, by their places in a package. */
export function completions(tree: readonly CommandNode[]): Map<string, string> {
  return new Map([
    ["usr/share/bash-completion/completions/lintel", bash(tree)],
    ["usr/share/zsh/vendor-completions/_lintel", zsh(tree)],
    ["usr/share/fish/vendor_completions.d/lintel.fish", fish(tree)],
  ]);
}

interface Place {
  /** Names of the commands that lead here, with spaces between; empty at the first word. */
  readonly path: string;
  /** Words that may follow, with their meanings. */
  readonly words: readonly { readonly word: string; readonly meaning: string }[];
  /** Options with the only values that they take; of the others a file may be the value. */
  readonly options: CommandNode["options"];
}

function places(tree: readonly CommandNode[]): Place[] {
  const named = (nodes: readonly CommandNode[]) =>
    nodes.map(({ words, summary }) => ({ word: words.at(-1) ?? "", meaning: summary }));
  const within = (node: CommandNode): Place[] => [
    { path: node.words.join(" "), words: named(node.below), options: node.options },
    ...node.below.flatMap(within),
  ];
  return [{ path: "", words: named(tree), options: [] }, ...tree.flatMap(within)];
}

const always = ["--help", "--version"];

function bash(tree: readonly CommandNode[]): string {
  const all = places(tree);
  const cases = all.map(({ path, words, options }) => {
    const offered = [...words.map(({ word }) => word), ...options.map(({ long }) => long), ...always];
    return `    "${path}") words="${offered.join(" ")}" ;;`;
  });
  const values = all.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ long, choices }) => `    "${path} ${long}") words="${choices.join(" ")}" ;;`),
  );
  const paths = all.flatMap(({ path }) => (path === "" ? [] : [`"${path}"`]));
  return `# Completes the words of lintel, for bash. Made from the table of commands.
_lintel() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path= one words=
  for one in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$one" in
    ${paths.join("|")}) path=\${path:+$path }$one ;;
    esac
  done
  case "$path $before" in
${values.join("\n")}
  esac
  [[ -n $words || ( $before == --* && $word != -* ) ]] || case $path in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _lintel lintel
`;
}

function zsh(tree: readonly CommandNode[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const pair = (word: string, meaning: string) => quoted(`${word}:${meaning.replaceAll(":", "\\:")}`);
  const cases = places(tree).map(({ path, words, options }) => {
    const offered = [
      ...words.map(({ word, meaning }) => pair(word, meaning)),
      ...options.map(({ long, description }) => pair(long, description)),
      ...always.map((one) => pair(one, one.slice(2))),
    ];
    return `  ${quoted(path)}) offered=(\n    ${offered.join("\n    ")}\n  ) ;;`;
  });
  const paths = places(tree).flatMap(({ path }) => (path === "" ? [] : [quoted(path)]));
  return `#compdef lintel
# Completes the words of lintel, for zsh. Made from the table of commands.
local path_= one
local -a offered
for one in "\${(@)words[2,CURRENT-1]}"; do
  case "\${path_:+$path_ }$one" in
    (${paths.join("|")}) path_="\${path_:+$path_ }$one" ;;
  esac
done
case "$path_" in
${cases.join("\n")}
esac
_describe -o 'lintel' offered
_files
`;
}

function fish(tree: readonly CommandNode[]): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = places(tree).flatMap(({ path, words, options }) => {
    const names = path.split(" ").filter((name) => name !== "");
    const among = words.map(({ word }) => word).join(" ");
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const none = among === "" ? [] : [`not __fish_seen_subcommand_from ${among}`];
    const here = quoted([...seen, ...none].join("; and "));
    return [
      ...words.map(
        ({ word, meaning }) => `complete -c lintel -f -n ${here} -a ${word} -d ${quoted(meaning)}`,
      ),
      ...options.map(({ long, description, takesValue, choices }) =>
        [
          `complete -c lintel -n ${quoted(seen.join("; and "))} -l ${long.replace(/^--/, "")}`,
          takesValue ? " -r" : "",
          choices.length > 0 ? ` -f -a ${quoted(choices.join(" "))}` : "",
          ` -d ${quoted(description)}`,
        ].join(""),
      ),
    ];
  });
  return `# Completes the words of lintel, for fish. Made from the table of commands.\n${lines.join("\n")}\n`;
}
