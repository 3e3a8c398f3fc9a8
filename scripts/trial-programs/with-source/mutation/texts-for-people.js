/**
 * Stryker's plugin that leaves texts for people alone: what an error or a line of the log says is a sentence, and a test that repeats
 * it would prove nothing. JavaScript, because Stryker loads it.
 */
const saysIt = /(Error|Fault|Refusal|Refused)$|^(debug|info|warn|error)$/;

/** The name that is called: `OperatorError`, or `warn` of `log.warn`. */
const called = (callee) => (callee.type === "MemberExpression" ? callee.property.name : callee.name) ?? "";

/** Whether a text at this place of the syntax tree is said to people. */
function forPeople(path) {
  const up = path.findParent((parent) => !parent.isTemplateLiteral() && !parent.isConditionalExpression());
  return (up?.isNewExpression() || up?.isCallExpression()) && saysIt.test(called(up.node.callee));
}

export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "texts-for-people",
    value: {
      shouldIgnore: (path) =>
        (path.isStringLiteral() || path.isTemplateLiteral()) && forPeople(path)
          ? "a text for people"
          : undefined,
    },
  },
];
