import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executablePath = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find(existsSync);

/** Whether this machine has a browser; a test that needs one says so if it has none. */
export const hasBrowser = executablePath !== undefined;

if (!hasBrowser)
  process.stdout.write(
    "no Chromium here (Debian: apt-get install chromium-headless-shell): its test is skipped\n",
  );

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] });
}
