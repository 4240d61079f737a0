import type { PolicyDocument } from "@bursar/domain";
import { type ChangeClientBody, readId, type Transaction } from "@bursar/protocol";
import { eventually } from "../eventually.js";
import type { BlackBoxService, InspectableService } from "../service/test-service.js";
import { storePolicy } from "./store-policy.js";

interface PolicyAnswer {
  status: number;
  headers: Headers;
  body: {
    version: number;
    document: unknown;
    updated_at: string | null;
    error?: { code: string; message: string; details?: { path: string; reason: string; rule?: string }[] };
  };
}

/** What somebody who keeps a tenant's policy does. */
export function policyOf(service: BlackBoxService, token: string) {
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<PolicyAnswer> => {
    const response = await service.call(method, path, token, body, headers);
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as PolicyAnswer["body"],
    };
  };
  const read = (query = "") => send("GET", `/v1/policy${query}`);
  const write = (document: unknown, ifMatch: string) =>
    send("PUT", "/v1/policy", document, { "if-match": ifMatch });
  return {
    send,
    read,
    write,
    /** Writes it over the version in force. */
    replace: async (document: unknown) => await write(document, (await read()).headers.get("etag") ?? ""),
  };
}

/** A tenant with 100,000 USD and a policy, what its first client does, and people who are asked. */
export async function createPolicyTenant(service: InspectableService) {
  const owner = await service.createTenant("100000");
  const token = await service.token(owner);
  const tenantId = readId("tnt", owner.tenantId) ?? "";
  let count = 0;

  /** Written past the API, so that it is in force before the tenant's first request. */
  const usePolicy = (document: PolicyDocument) =>
    storePolicy(service.database, { tenantId, clientId: owner.client.id }, document);
  const create = (amount: string, key = `key-${count++}`, more: object = {}) =>
    service.call(
      "POST",
      "/v1/transactions",
      token,
      { reference: "r", asset: "USD", amount, ...more },
      {
        "idempotency-key": key,
      },
    );
  const read = async (id: string) =>
    (await (await service.call("GET", `/v1/transactions/${id}`, token)).json()) as Transaction;
  const settled = (id: string, state: Transaction["state"]) =>
    eventually(
      () => read(id),
      (found) => found.state === state,
    );
  const balances = async () => {
    const { data } = (await (await service.call("GET", "/v1/wallets", token)).json()) as {
      data: { name: string; balances: { available: string; held: string }[] }[];
    };
    const [primary] = data.filter(({ name }) => name === "primary").flatMap((wallet) => wallet.balances);
    return primary;
  };
  /** Created by the operator, because an approver must be independent of the client that pays. */
  const addClient = async (name: string) => {
    const made = await service.createIndependentClient(
      owner,
      ["transactions:approve", "transactions:read"],
      name,
    );
    return { id: made.clientId, secret: made.secret, token: made.token };
  };
  const changeAsOperator = (who: { id: string }, body: ChangeClientBody) =>
    service.changeAsOperator({ tenantId: owner.tenantId, clientId: who.id }, body);
  const say = (who: { token: string }, id: string, digest: string, decision = "approve") =>
    service.call("POST", `/v1/transactions/${id}/approvals`, who.token, { decision, digest });

  /** Registers an Ed25519 key of a client; returns its id. */
  const addKey = ({ id }: { id: string }, publicKey: string) =>
    service.addKeyAsOperator({ tenantId: owner.tenantId, clientId: id }, publicKey);

  return {
    publicId: owner.tenantId,
    owner,
    addKey,
    tenantId,
    token,
    usePolicy,
    create,
    read,
    settled,
    balances,
    addClient,
    changeAsOperator,
    say,
  };
}

export type PolicyTenant = Awaited<ReturnType<typeof createPolicyTenant>>;
