/** What the operator wrote is wrong. The message names the key, the value and what is allowed; the process exits with 2. */
export class ConfigError extends Error {}
