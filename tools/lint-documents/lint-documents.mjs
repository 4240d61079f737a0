// Checks openapi.json with the rules of Redocly and Spectral, and asyncapi.json with those of Spectral. Both run as libraries: their command
// lines have several hundred further dependencies, ask for updates and send usage data. Nothing here uses the network.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import redocly from "@redocly/openapi-core";
import core from "@stoplight/spectral-core";
import parsers from "@stoplight/spectral-parsers";
import { root } from "../files.mjs";
import { asyncApiRules, openApiRules } from "./spectral-rulesets.mjs";

/** Findings that are right by the rule and wrong here. An entry that nothing needs any more is a fault. */
const exceptions = [
  // A WebSocket is opened with 101.
  "operation-2xx-response #/paths/~1v1~1stream/get/responses",
  "operation-success-response #/paths/~1v1~1stream/get/responses",
];

const found = [
  ...(await lintWithRedocly("openapi.json")),
  ...(await lintWithSpectral("openapi.json", openApiRules)),
  ...(await lintWithSpectral("asyncapi.json", asyncApiRules)),
];
const faults = [
  ...found.filter(({ place }) => !exceptions.includes(place)).map(({ text }) => text),
  ...exceptions
    .filter((exception) => !found.some(({ place }) => place === exception))
    .map((exception) => `this exception is not needed any more: ${exception}`),
];
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);

/** @param {string} file */
async function lintWithRedocly(file) {
  const config = await redocly.loadConfig({ configPath: join(root, "redocly.yaml") });
  const problems = await redocly.lintDocument({
    document: redocly.makeDocumentFromString(readFileSync(join(root, file), "utf8"), file),
    config: config.styleguide,
    externalRefResolver: new redocly.BaseResolver(),
  });
  return problems.map(({ ruleId, message, location }) =>
    describe(file, ruleId, location[0]?.pointer ?? "", message),
  );
}

/**
 * @param {string} file
 * @param {import("@stoplight/spectral-core").RulesetDefinition} rules
 */
async function lintWithSpectral(file, rules) {
  const spectral = new core.Spectral();
  spectral.setRuleset(rules);
  const document = new core.Document(readFileSync(join(root, file), "utf8"), parsers.Json, file);
  return (await spectral.run(document)).map(({ code, message, path }) => {
    const keys = path.map((key) => String(key).replaceAll("~", "~0").replaceAll("/", "~1"));
    return describe(file, String(code), ["#", ...keys].join("/"), message);
  });
}

/**
 * @param {string} file
 * @param {string} rule
 * @param {string} pointer
 * @param {string} message
 */
function describe(file, rule, pointer, message) {
  return { place: `${rule} ${pointer}`, text: `${file}${pointer}: ${message} (${rule})` };
}
