/** Words with a command in them: no line ends behind the hyphens of an option such as `--link`. */
export function CommandText({ children }: { readonly children: string }) {
  return (
    <>
      {children.split(/(--[a-z-]+)/).map((words, at) =>
        at % 2 === 0 ? (
          words
        ) : (
          <span key={words} class="option">
            {words}
          </span>
        ),
      )}
    </>
  );
}
