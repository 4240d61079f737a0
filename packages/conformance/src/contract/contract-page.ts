import { checkTable } from "../checks/table.js";
import type { Check } from "../engine/check.js";
import { contractVersion, type Sentence, sections, sentences } from "./sentences.js";

const rows: readonly [string, Sentence][] = Object.entries(sentences);

/** docs/reference/conformance.md: the sentences of the contract, each with its checks or the reason why it has none. */
export function contractPage(): string {
  const contract = checkTable.filter(({ level }) => level === "contract");
  const others = checkTable.filter(({ level }) => level !== "contract");
  return `# The contract and its checks

<!-- Generated from packages/conformance/src by \`npm run generate\`. -->

The sentences of the contract, version ${contractVersion}, with the checks of the [conformance kit](../guides/conformance.md) that test them: ${contract.length} checks in all. What the contract marks as "not shown" is open, and no check of this level looks at it.
${Object.entries(sections).map(showSection).join("")}${others.length === 0 ? "" : showProfiles(others)}`;
}

function showSection([number, title]: [string, string]): string {
  const own = rows
    .filter(([id]) => id.startsWith(`${number}.`))
    .map(([id, { text, untested }]) => {
      const checks = checkTable.filter((check) => check.level === "contract" && check.sentence === id);
      const shown = checks.map((check) => `\`${check.id}\`: ${check.shows}`).join("<br>");
      return `| ${text.replaceAll("<", "&lt;")} | ${untested === undefined ? shown : `No check. ${untested}`} |`;
    });
  return `\n## ${number}. ${title}\n\n| sentence | checks |\n|---|---|\n${own.join("\n")}\n`;
}

function showProfiles(checks: readonly Check[]): string {
  const own = checks.map((check) => {
    const name = check.level === "profile" ? `\`${check.profile}\`` : check.level;
    return `| ${name} | \`${check.id}\` | ${check.shows} | ${check.level === "contract" ? "" : check.source} |`;
  });
  return `\n## Profiles\n\nThese checks do not decide conformance. They run if the target offers the profile.\n\n| profile | check | shows | source |\n|---|---|---|---|\n${own.join("\n")}\n`;
}
