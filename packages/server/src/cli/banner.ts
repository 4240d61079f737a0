import { relative } from "node:path";
import type { Service } from "../main.js";
import { softwareVersion } from "../version.js";

/** What a newcomer sees when the sandbox is ready: where things are, and what to type next. */
export function banner({ url, dataLocation }: Service): string {
  const fromHere = relative(process.cwd(), dataLocation);
  const data = fromHere.startsWith("..") ? dataLocation : fromHere;
  return `
  Bursar ${softwareVersion} is ready.

    API    ${url}
    Docs   ${url}/docs
    Data   ${data}

  Try, in another terminal:

    curl -i ${url}/readyz
    curl -i ${url}/v1/nowhere
    npx bursar config

  Ctrl-C stops all of it.
`;
}
