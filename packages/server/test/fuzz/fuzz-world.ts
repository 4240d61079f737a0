import { allScopes, grantableScopes, protectingScopes, type Scope } from "@bursar/protocol";
import { type JsonSchema, listOperations, readApiDocument } from "../harness/http/api-document.js";
import { createObjects } from "../harness/http/route-requests.js";
import type { TestService } from "../harness/service/test-service.js";
import type { FuzzWorld } from "./fuzzed-request.js";

/** The maximum number of ids kept of each kind, so that the memory of a long run is bounded. */
const idsMax = 50;

/** The number of additional clients that requests can change. */
const othersCount = 12;

export interface LivingWorld extends FuzzWorld {
  /** Collects the ids in a response, so that later requests can use them. */
  learn: (body: string) => void;
}

/** A service with a tenant whose objects the requests name, and another tenant whose objects they must not reach. */
export async function createFuzzWorld(service: TestService): Promise<LivingWorld> {
  const document = readApiDocument();
  const owner = await service.createTenant("1000000");
  const stranger = await service.createTenant("1000");
  const token = await service.token(owner);
  // Requests change clients and remove their secrets, so they use clients that no other part of the test needs.
  // A protected client would be changed by change requests only.
  const protecting: readonly Scope[] = protectingScopes;
  const scopes = grantableScopes.filter((scope) => !protecting.includes(scope));
  const created = await service.call("POST", "/v1/clients", token, { name: "victim", scopes });
  const victim = (await created.json()) as { id: string; secret: string };
  const bank = await service.createIndependentClient(owner, ["deposits:write"], "bank");
  const own = await createObjects(service, token, victim.id);
  const foreign = await createObjects(service, await service.token(stranger), stranger.clientId);
  const ids: Record<string, string[]> = Object.fromEntries(
    Object.entries(own).map(([collection, id]) => [collection, [id, foreign[collection] as string]]),
  );

  // Changes of one client are serialised by a lock, so many concurrent ones would test its timeout and not the routes.
  for (let count = 0; count < othersCount; count++) {
    const other = await service.call("POST", "/v1/clients", token, { name: `other ${count}`, scopes: [] });
    ids["clients"]?.push(((await other.json()) as { id: string }).id);
  }
  return {
    operations: listOperations(document),
    resolve: (reference) => document.components.schemas[reference.split("/").at(-1) ?? ""] as JsonSchema,
    authorizations: [
      `Bearer ${token}`,
      `Bearer ${await service.token(stranger)}`,
      `Bearer ${bank.token}`,
      `Bearer ${await service.token(owner, "wallets:read")}`,
      `Basic ${Buffer.from(`${victim.id}:${victim.secret}`).toString("base64")}`,
      "Bearer x.y.z",
      "Bearer",
      "Basic ?",
    ],
    ids,
    known: {
      wallet_id: ids["wallets"] ?? [],
      asset: ["USD", "ETH", "USDC", "eip155:1/slip44:60", "NONE"],
      amount: [
        "1",
        "0.01",
        "1.001",
        "0",
        "-1",
        "1000000000000",
        "1e3",
        `${"9".repeat(60)}.${"9".repeat(18)}`,
      ],
      purpose: ["payout", "deposit"],
      network: ["book", "eip155:1", "nowhere"],
      address: [`0x${"1".repeat(40)}`, "nowhere"],
      cursor: ["", "x", "eyJ9", "bm9uZQ"],
      grant_type: ["client_credentials"],
      client_id: [victim.id],
      client_secret: [victim.secret, "wrong"],
      token: ["x.y.z", await service.token(stranger)],
      scope: ["wallets:read", "nothing"],
      scopes: [["wallets:read"], [...allScopes]],
      digest: ["0".repeat(64)],
      after: [0, 1, 10],
    },
    learn: (body) => {
      const { id } = JSON.parse(body) as { id?: string };
      const collection = { tx: "transactions", wlt: "wallets", dst: "destinations" }[
        id?.split("_", 1)[0] ?? ""
      ];
      if (id === undefined || collection === undefined) return;
      const list = ids[collection] ?? [];
      list.push(id);
      if (list.length > idsMax) list.splice(2, 1);
    },
  };
}
