import packageFile from "../../package.json" with { type: "json" };

/** The release that a package was built as, where it was given another than package.json's. */
const release = process.env["LINTEL_VERSION"] || packageFile.version;

/** The commit that this program is made of, as scripts/lintel found it; a bundle has it baked in. */
const commit = process.env["LINTEL_COMMIT"];

/**
 * Which Lintel this is, in one form wherever it is told: `0.1.0+1a2b3c4d5e`, with `.changed` behind it where the source was
 * not that of the commit, and `0.1.0` where no commit is known.
 */
export const version = commit ? `${release}+${commit}` : release;
