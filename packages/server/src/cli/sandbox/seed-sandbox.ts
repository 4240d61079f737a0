import { randomUUID } from "node:crypto";
import { quotaLimits, tradingPolicy } from "@bursar/domain";
import { type Client, grantableScopes, quotaClasses, readId, type Scope, showId } from "@bursar/protocol";
import { isRefused } from "../../app/requests/refused.js";
import type { Parts } from "../../compose/compose.js";
import type { Settings } from "../../config/settings.js";
import { bookRail } from "../../rails/book/book-rail.js";
import {
  hasSandboxCredentials,
  readSandboxCredentials,
  type SandboxClient,
  writeSandboxCredentials,
} from "./sandbox-credentials.js";
import { type SandboxPerson, seedPeople } from "./seed-people.js";

/** A tenant to work with, a second one that shows the isolation of tenants, and one whose orders fill the books. */
const makerName = "market-maker";
const tenantNames = ["sandbox", "other", makerName] as const;

/** Quotas that no experiment and no benchmark reaches. */
const wideQuotas = Object.fromEntries(
  quotaClasses.map((name) => [name, { per_second: quotaLimits.perSecondMax, burst: quotaLimits.burstMax }]),
);
interface SeededClient {
  name: string;
  scopes: Scope[];
  quotas: Client["quotas"];
}

/** Further clients of the first tenant. The operator creates them, so they are independent of the first one and of each other. */
const furtherClients: readonly SeededClient[] = [
  // It cannot manage clients, because it could raise its limits.
  {
    name: "limited",
    scopes: grantableScopes.filter((scope) => scope !== "clients:manage"),
    quotas: { create: { per_second: 1, burst: 3 }, read: { per_second: 5, burst: 10 } },
  },
  // Approves what the others request.
  {
    name: "approver",
    scopes: ["transactions:approve", "transactions:read", "wallets:read"],
    quotas: wideQuotas,
  },
];

/** Creates the sandbox's tenants, clients and people at the first start, and keeps the address of the service up to date. */
export async function seedSandbox(
  url: string,
  parts: Parts,
  { data_dir: dataDir, market_maker: marketMaker }: Pick<Settings, "data_dir" | "market_maker">,
): Promise<SandboxPerson[]> {
  const known = hasSandboxCredentials(dataDir) ? readSandboxCredentials(dataDir).clients : [];
  const clients: SandboxClient[] = [];
  for (const name of tenantNames) {
    const before = known.find((client) => client.name === name);
    clients.push(before !== undefined && (await exists(before, parts)) ? before : await create(name, parts));
  }
  for (const client of clients) await allowOrders(client, parts);
  for (const further of furtherClients) {
    const before = known.find((client) => client.name === further.name);
    const isKnown = before !== undefined && (await exists(before, parts));
    clients.push(isKnown ? before : await createFurther(further, clients[0] as SandboxClient, parts));
  }
  writeSandboxCredentials(dataDir, { url, clients });
  const maker = clients.find(({ name }) => name === makerName);
  if (marketMaker === "on" && maker !== undefined) parts.markets.startMarketMaker(toIds(maker));
  return await seedPeople(url, toIds(clients[0] as SandboxClient).tenantId, parts);
}

/** The policy that tenants start with refuses orders. One that was replaced stays as it is. */
async function allowOrders(client: SandboxClient, { useCases }: Parts): Promise<void> {
  const ids = toIds(client);
  const inForce = await useCases.readPolicy(ids.tenantId, undefined);
  if (isRefused(inForce) || inForce.version > 0) return;
  const principal = { ...ids, tokenId: randomUUID(), scopes: new Set<never>() };
  const replaced = await useCases.replacePolicy(
    { by: "client", principal, requestId: "sandbox", address: "127.0.0.1" },
    0,
    tradingPolicy,
  );
  if (isRefused(replaced)) throw new Error(`the sandbox's policy was refused: ${replaced.refused}`);
}

/** The amount of each asset that a sandbox tenant starts with. */
const funds = "1000000";

async function create(name: string, parts: Parts): Promise<SandboxClient> {
  const { createTenant, fundPrimary, assets } = parts;
  const { tenant, client, secret } = await createTenant(name);
  await setQuotas(tenant.id, client.id, wideQuotas, parts);
  // The primary wallet is one of the book; assets of other networks come in as deposits.
  for (const { code, network } of assets.list)
    if (network === bookRail.network) await fundPrimary(tenant.id, code, funds);
  return {
    name,
    tenant_id: showId("tnt", tenant.id),
    client_id: showId("cli", client.id),
    client_secret: secret ?? "",
  };
}

async function createFurther(
  { name, scopes, quotas }: SeededClient,
  { tenant_id }: SandboxClient,
  parts: Parts,
): Promise<SandboxClient> {
  const tenantId = readId("tnt", tenant_id) ?? "";
  const created = await parts.useCases.createClient(
    { by: "operator", tenantId },
    { name, scopes },
    undefined,
  );
  if (isRefused(created)) throw new Error(`the operator was refused: ${created.refused}`);
  await setQuotas(tenantId, created.client.id, quotas, parts);
  return {
    name,
    tenant_id,
    client_id: showId("cli", created.client.id),
    client_secret: created.secret ?? "",
  };
}

async function setQuotas(tenantId: string, clientId: string, quotas: Client["quotas"], { useCases }: Parts) {
  const changed = await useCases.changeClient({ by: "operator", tenantId }, clientId, { quotas });
  if (isRefused(changed)) throw new Error(`the operator was refused: ${changed.refused}`);
}

/** The file can be stale, as after a change of DATABASE_URL. */
async function exists(client: SandboxClient, { useCases }: Parts): Promise<boolean> {
  const { tenantId, clientId } = toIds(client);
  return tenantId !== "" && clientId !== "" && !isRefused(await useCases.readClient(tenantId, clientId));
}

/** The ids are empty if the file was edited by hand. */
function toIds({ tenant_id, client_id }: SandboxClient): { tenantId: string; clientId: string } {
  return { tenantId: readId("tnt", tenant_id) ?? "", clientId: readId("cli", client_id) ?? "" };
}
