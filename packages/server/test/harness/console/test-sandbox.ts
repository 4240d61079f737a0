import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Bursar, createBursar } from "@bursar/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launchBrowser } from "../browser.js";
import { consoleOriginOf } from "../people/log-in.js";
import { type BursarProcess, spawnBursar } from "../service/bursar-process.js";
import { createTemporaryFolder } from "../temporary-folder.js";
import { buildConsole } from "./build-console.js";
import { openVisitor, type Visitor } from "./visitor.js";

export interface TestSandbox {
  origin: string;
  /** The first client of the sandbox, as a newcomer uses it from a shell. */
  bursar: Bursar;
  visit: () => Promise<Visitor>;
  /** Somebody who opens the link that the sandbox has printed for this name. */
  follow: (name: string) => Promise<Visitor>;
}

/** The sandbox as `npm start` runs it, in a process with its own PostgreSQL, and a browser. */
export function useSandbox(): () => TestSandbox {
  const folder = createTemporaryFolder("console-sandbox");
  const env = { BURSAR_DATA_DIR: join(folder, "data") };
  let sandbox: BursarProcess | undefined;
  let browser: Browser | undefined;
  let running: TestSandbox | undefined;
  beforeAll(async () => {
    buildConsole();
    sandbox = spawnBursar({ args: ["dev"], env });
    browser = await launchBrowser();
    const url = await sandbox.ready();
    await sandbox.waitFor(/Ctrl-C stops the service/);
    const token = spawnBursar({ args: ["token"], env });
    await token.exited;
    const accessToken = token.output().trim();
    const origin = consoleOriginOf({ url });
    const visit = openVisitor.bind(undefined, browser, origin);
    const links = linksOf(sandbox.output());
    running = {
      origin,
      bursar: createBursar({ baseUrl: url, credentials: () => accessToken }),
      visit,
      follow: async (name) => {
        const visitor = await visit();
        await visitor.accept(links.get(name) ?? "");
        return visitor;
      },
    };
  });
  afterAll(async () => {
    await browser?.close();
    sandbox?.child.kill("SIGINT");
    await sandbox?.exited;
    rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    if (running === undefined) throw new Error("the sandbox is not running");
    return running;
  };
}

/** The links of the banner, by name. */
export function linksOf(output: string): Map<string, string> {
  const lines = output.matchAll(/^ +(\w+) +(?:admin|approver) +(http\S+#invitation=\S+)$/gm);
  return new Map([...lines].map(([, name = "", link = ""]) => [name, link]));
}
