import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * Makes stack traces name the sources instead of the files of a bundle. A map is read when the first stack trace needs it: Node's own
 * support for source maps reads all of them at the start, which took 0.4 s of CPU.
 *
 * @param {string} folder the address of the bundle, which ends in a slash
 */
export function mapStackTraces(folder) {
  /** @type {Map<string, SourceMap | undefined>} */
  const maps = new Map();

  /** @param {string} address */
  const mapOf = (address) => {
    if (!maps.has(address)) maps.set(address, readMap(address));
    return maps.get(address);
  };

  /** @param {NodeJS.CallSite} site */
  const describe = (site) => {
    const shown = site.toString();
    const address = site.getFileName() ?? "";
    if (!address.startsWith(folder)) return shown;
    const [line, column] = [site.getLineNumber() ?? 1, site.getColumnNumber() ?? 1];
    const entry = mapOf(address)?.findEntry(line - 1, column - 1);
    if (entry === undefined || !("originalSource" in entry)) return shown;
    const place = `${new URL(entry.originalSource, address).href}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    return shown.replace(`${address}:${line}:${column}`, place);
  };

  Error.prepareStackTrace = (error, sites) => {
    const title = titleOf(error);
    return [title, ...sites.map((site) => `    at ${describe(site)}`)].join("\n");
  };
}

/** As V8 begins a stack trace. @param {Error} error */
function titleOf(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return "Error";
  }
}

/** Without its map a stack trace is as it is. @param {string} address @returns {SourceMap | undefined} */
function readMap(address) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(address)}.map`, "utf8")));
  } catch {
    return undefined;
  }
}
