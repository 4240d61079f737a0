import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTestService, type TestClient, type TestService } from "../service/test-service.js";
import { createTemporaryFolder } from "../temporary-folder.js";
import { callConsole, cookieOf } from "./log-in.js";
import { type OidcFaults, oidcClient, startOidcProvider } from "./oidc-provider.js";

type Provider = Awaited<ReturnType<typeof startOidcProvider>>;

export interface ProviderService {
  provider: Provider;
  service: TestService;
  owner: TestClient;
  begin: () => Promise<{ url: string; cookie: string; code: string | undefined }>;
  finish: (parameters: URLSearchParams, cookie: string) => ReturnType<typeof callConsole>;
  /** Logs somebody with these claims in. */
  logIn: (claims: object, faults?: OidcFaults) => ReturnType<typeof callConsole>;
  stop: () => Promise<void>;
}

/** A service with an OpenID provider, and a tenant in which these values of the claim `groups` have these roles. */
export async function startProviderService(
  roles: Readonly<Record<string, string>>,
  quotas = { "quotas.address_per_second": "100000", "quotas.address_burst": "100000" },
): Promise<ProviderService> {
  const provider = await startOidcProvider();
  const first = await startTestService();
  const owner = await first.createTenant();
  const rows = Object.entries(roles).map(
    ([value, role]) => `  - {value: ${value}, tenant: ${owner.tenantId}, role: ${role}}\n`,
  );
  const file = join(createTemporaryFolder("oidc"), "bursar.yaml");
  writeFileSync(file, `oidc_roles:\n${rows.join("")}`);
  const settings = {
    BURSAR_OIDC_ISSUER: provider.url,
    BURSAR_OIDC_CLIENT_ID: oidcClient.id,
    BURSAR_OIDC_CLIENT_SECRET: oidcClient.secret,
    ...quotas,
    BURSAR_CONFIG: file,
  };
  const { database, masterKey } = first;
  const service = await startTestService(settings, { database, masterKey, publicUrl: undefined });
  const begin = async () => {
    const { body, cookie, code } = await callConsole(service, "POST", "/oidc");
    return { url: String(body["url"]), cookie, code };
  };
  const finish: ProviderService["finish"] = (parameters, cookie) =>
    callConsole(service, "POST", "/oidc/callback", { parameters: String(parameters) }, cookieOf(cookie));
  return {
    ...{ provider, service, owner, begin, finish },
    logIn: async (claims, faults) => {
      const { url, cookie } = await begin();
      return await finish(await provider.authorize(url, claims, faults), cookie);
    },
    stop: async () => {
      await service.stop();
      await first.stop();
      await provider.stop();
    },
  };
}
