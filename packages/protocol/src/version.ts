/** The version of the contract that this code implements; `info.version` of the OpenAPI document. */
export const apiVersion = "0.1.0";

/** The response header that names the version. */
export const versionHeader = "bursar-version";
