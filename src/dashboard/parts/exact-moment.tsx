/** A moment in few words, which tells itself to the millisecond when it is pointed at or reached by the keyboard. */
export function ExactMoment({ at_ms, text, exact }: { at_ms: number; text: string; exact: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the exact time is shown on focus
    <time class="exact" dateTime={new Date(at_ms).toISOString()} tabIndex={0} data-exact={exact}>
      {text}
    </time>
  );
}
