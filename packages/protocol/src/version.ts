/** The version of the contract that this code speaks; `info.version` of the OpenAPI document. */
export const apiVersion = "0.1.0";

/** Names the version on every answer. */
export const versionHeader = "bursar-version";
