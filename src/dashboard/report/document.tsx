import { renderToString } from "preact-render-to-string";
import colours from "../../http/colours.css" with { type: "text" };
import device from "../pages/device/device.css" with { type: "text" };
import general from "../style.css" with { type: "text" };
import { homeTitle, ReportPage, type ReportPageOf } from "./page.tsx";
import own from "./report.css" with { type: "text" };

/** A report as one HTML file that asks for nothing outside of itself and needs no script. */
export function reportDocument(of: ReportPageOf): string {
  const document = (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"
        />
        <title>{`${homeTitle(of.report)}, report · Lintel`}</title>
        {/* A browser asks a server for an icon that no page names. */}
        <link rel="icon" href="data:," />
        <style dangerouslySetInnerHTML={{ __html: [colours, general, device, own].join("\n") }} />
      </head>
      <body>
        <ReportPage {...of} />
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(document)}\n`;
}
