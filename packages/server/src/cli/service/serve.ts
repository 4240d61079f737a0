import type { Command } from "commander";
import { loadConfig } from "../../config/load-config.js";
import { ConfigError } from "../../config/setting.js";
import type { Settings } from "../../config/settings.js";
import type { Keyring } from "../../credentials/keyring.js";
import { readMasterKeys } from "../../credentials/master-key.js";
import { OperatorError } from "../../operator-error.js";

export function addServeCommand(program: Command): void {
  program
    .command("serve")
    .description("run the service in production, on the database that DATABASE_URL names")
    .action(async () => {
      const { values } = loadConfig(process.env);
      if (values.database_url === undefined) {
        throw new ConfigError(
          "database_url (environment DATABASE_URL) is not set. Set it to the URL of a PostgreSQL database.",
        );
      }
      if (values.master_key_file === undefined) {
        throw new ConfigError(
          "master_key_file (environment BURSAR_MASTER_KEY_FILE) is not set. Set it to a file with 32 bytes in base64 or hexadecimal.",
        );
      }
      requirePublicUrl(values);
      const keyring = readConfiguredKeys(values.master_key_file);
      const { runUntilStopped } = await import("./run-until-stopped.js");
      await runUntilStopped(values, { isSandbox: false, keyring: () => keyring });
    });
}

/** Tokens carry the address as their issuer and audience, so a service that guesses it from its port would issue tokens for nowhere. */
function requirePublicUrl({ public_url, allow_http_public_url }: Settings): void {
  if (public_url === undefined)
    throw new ConfigError(
      "public_url (environment BURSAR_PUBLIC_URL) is not set. Set it to the https:// address at which clients reach the service.",
    );
  if (!public_url.startsWith("https:") && allow_http_public_url === "false")
    throw new ConfigError(
      `public_url is ${JSON.stringify(public_url)}: it must begin with https://, because tokens and secrets would cross the network unencrypted. If they do not, set BURSAR_ALLOW_HTTP_PUBLIC_URL to true.`,
    );
}

/** An invalid key file is a configuration error, like any other invalid value. */
function readConfiguredKeys(path: string): Keyring {
  try {
    return readMasterKeys(path);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new ConfigError(error.message, { cause: error });
  }
}
