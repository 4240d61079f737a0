import { builtInRoles, isBuiltInRole, readId } from "@bursar/protocol";
import type { ConsoleAddress } from "../../app/people/console-address.js";
import type { OidcDeps, OidcRole } from "../../app/people/oidc-login.js";
import type { Settings } from "../../config/settings.js";
import { createOidcProvider } from "../../credentials/oidc-provider.js";
import { OperatorError } from "../../operator-error.js";
import type { ComposeOptions } from "../compose.js";
import { secretContexts } from "../secret-contexts.js";

interface OidcParts extends Pick<OidcDeps, "people">, Pick<ComposeOptions, "sealing" | "now" | "log"> {
  consoleAddress: () => ConsoleAddress;
}

/** Undefined if no provider is configured. It is not asked before somebody logs in. */
export function composeOidc(
  settings: Settings,
  { people, sealing, consoleAddress, now, log }: OidcParts,
): OidcDeps | undefined {
  const { "oidc.issuer": issuer, "oidc.client_id": clientId, "oidc.client_secret": clientSecret } = settings;
  if (issuer === undefined) return undefined;
  if (clientId === undefined || clientSecret === undefined)
    throw new OperatorError(
      "oidc.issuer is set, but oidc.client_id or oidc.client_secret is not. Set BURSAR_OIDC_CLIENT_ID and BURSAR_OIDC_CLIENT_SECRET.",
    );
  const redirectUri = () => `${consoleAddress().url}/console/oidc`;
  const onUnavailable = (error: unknown) =>
    log.warn({ err: error, issuer }, "The OpenID provider could not be used; passkeys are not affected.");
  const options = {
    issuer,
    clientId,
    clientSecret,
    scope: settings["oidc.scope"],
    redirectUri,
    onUnavailable,
  };
  return {
    provider: createOidcProvider(options, now),
    roleClaim: settings["oidc.role_claim"],
    rows: settings.oidc_roles.map(readRow),
    people,
    seal: (content) => sealing.seal(secretContexts.oidcLogin, content),
    open: (sealed) => sealing.open(secretContexts.oidcLogin, sealed),
  };
}

export function readRow({ value, tenant, role }: Settings["oidc_roles"][number]): OidcRole {
  const tenantId = readId("tnt", tenant);
  if (tenantId === undefined)
    throw new OperatorError(
      `oidc_roles has the tenant ${tenant}, which is not an id. \`bursar tenant list\` shows the ids.`,
    );
  // A person of this table depends on no client.
  if (!isBuiltInRole(role))
    throw new OperatorError(
      `oidc_roles has the role ${role}. Use a built-in one: ${Object.keys(builtInRoles).join(", ")}. What a role of the tenant means is up to its clients.`,
    );
  return { value, tenantId, role };
}
