/** Whether a text is the address of a server, with nothing of its interface behind it: `https://central.example`. */
export function isServerAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.search === "" &&
    url.username === "" &&
    url.hash === ""
  );
}
