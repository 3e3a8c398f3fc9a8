/** Searches in a browser, where the documents are files and no server looks. */

import { type Section, searchSections } from "./document-search.ts";
import { foundMarkup } from "./found-markup.ts";

const asked = new URL(location.href).searchParams.get("q");
const main = document.getElementById("main");
if (asked !== null && main !== null) {
  const sections: readonly Section[] = await (await fetch(new URL("sections.json", import.meta.url))).json();
  const field = document.querySelector<HTMLInputElement>("[name=q]");
  if (field !== null) field.value = asked;
  main.innerHTML = foundMarkup(searchSections(sections, asked), asked).text;
}
