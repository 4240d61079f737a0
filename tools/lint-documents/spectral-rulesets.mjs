import rulesets from "@stoplight/spectral-rulesets";

// All rules of Spectral, also those that are only recommended for some documents, except:

/** @typedef {import("@stoplight/spectral-core").RulesetDefinition} RulesetDefinition */

/** Their own types do not fit together. @param {unknown} ruleset */
const asDefinition = (ruleset) => /** @type {RulesetDefinition} */ (ruleset);

/** @type {RulesetDefinition} */
export const openApiRules = {
  extends: [[asDefinition(rulesets.oas), "all"]],
  rules: {
    // Bursar is self-hosted: the operator is the contact, and security.txt names one.
    "info-contact": "off",
    // The license has an SPDX identifier, which excludes a URL.
    "license-url": "off",
    // Tags are in the order in which a reader needs them.
    "openapi-tags-alphabetical": "off",
    // Redocly and openapi-examples.test.ts validate the examples; this rule takes ten times as long as all others.
    "oas3-valid-media-example": "off",
  },
};

/** @type {RulesetDefinition} */
export const asyncApiRules = {
  extends: [[asDefinition(rulesets.asyncapi), "all"]],
  rules: {
    "asyncapi-info-contact": "off",
    // Generators of clients support 3.0; 3.1 adds nothing that the stream uses.
    "asyncapi-latest-version": "off",
  },
};
