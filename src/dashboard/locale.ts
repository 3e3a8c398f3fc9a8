/** The language that a browser likes best, by its Accept-Language header (RFC 9110 §12.5.4), that dates and numbers can be written in. */
export function localeOf(header: string | null): string {
  const wanted = (header ?? "")
    .slice(0, length_max)
    .split(",")
    .map((part) => {
      const [tag = "", weight = "q=1"] = part.split(";");
      return { tag: tag.trim(), weight: Number(weight.trim().replace(/^q=/, "")) };
    })
    .filter(({ tag, weight }) => tagForm.test(tag) && weight > 0)
    .sort((one, other) => other.weight - one.weight);
  return wanted[0]?.tag ?? "en";
}

/** No more of the header is read. */
const length_max = 200;
/** Languages with script and region, and nothing that Intl would refuse. */
const tagForm = /^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$/;
