/** Says why something cannot be shown, and where to go on. */
export function RefusalPage({ status, message }: { status: number; message: string }) {
  return (
    <main class="refusal">
      <h1>{status === 404 ? "There is nothing here" : "This cannot be shown now"}</h1>
      <p>{message}.</p>
      <p>
        <a href="/">To the first page</a>
      </p>
    </main>
  );
}
