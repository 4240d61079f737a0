import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

export function readPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** The code blocks of a page, in one language. */
export function blocksOf(page: string, language: string): string[] {
  return [...readPage(page).matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(
    (match) => match[1] ?? "",
  );
}
