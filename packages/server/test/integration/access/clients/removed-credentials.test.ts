import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { listTamperedClients } from "../../../../src/store/access/authenticate-clients.js";
import { withKeys } from "../../../../src/store/core/database.js";
import { registerWith } from "../../../harness/people/log-in.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

describe("a writer to the database who removes credentials", () => {
  let owner: TestClient;
  let token: string;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
  });
  const call = async (method: string, path: string, body?: unknown, as = token) => {
    const answer = await service.call(method, path, as, body);
    const text = await answer.text();
    const read = (text === "" ? {} : JSON.parse(text)) as {
      id: string;
      secret: string;
      invitation: { url: string };
      error?: { code: string };
    };
    return { status: answer.status, code: read.error?.code, body: read };
  };
  const invite = async () =>
    (
      await call("POST", "/v1/people", {
        ...{ email: "gwen@treasury.example", name: "Gwen", role: "approver" },
      })
    ).body;
  const tampered = () => listTamperedClients(withKeys(service.database, service.keys));

  it("does not get a new link for a person who has registered a passkey", async () => {
    const { id, invitation } = await invite();
    expect((await registerWith(service, invitation.url)).status).toBe(201);
    const ask = () => call("POST", `/v1/people/${id}/invitation`);
    expect((await ask()).code).toBe("CHANGE_REQUEST_REQUIRED");
    await service.database.run(`DELETE FROM client_keys WHERE client_id = '${readId("cli", id)}'`);
    expect((await ask()).code).toBe("CLIENT_TAMPERED");
    expect(await tampered()).toContain(readId("cli", id));
  });

  it("does not make a replaced secret the newest one again", async () => {
    const { id, secret } = (await call("POST", "/v1/clients", { name: "leaky", scopes: [] })).body;
    const own = await service.token({ clientId: id, secret });
    const rotated = await call("POST", `/v1/clients/${id}/secrets`, { overlap_seconds: 600 });
    expect(rotated.status).toBe(201);
    const renew = () => call("POST", "/v1/me/secrets", { current_secret: secret }, own);
    expect((await renew()).code).toBe("CREDENTIAL_PROOF_REQUIRED");
    await service.database.run(
      `DELETE FROM client_secrets WHERE client_id = '${readId("cli", id)}' AND expires_at IS NULL`,
    );
    const after = await renew();
    expect(["CLIENT_TAMPERED", "TOKEN_REVOKED"]).toContain(after.code);
  });

  it("is not confused with the end of an invitation", async () => {
    const { id } = await invite();
    const clientId = readId("cli", id);
    // As the service does a minute after its end.
    const other = (await call("POST", "/v1/clients", { name: "rotated", scopes: [] })).body;
    await call("POST", `/v1/clients/${other.id}/secrets`, { overlap_seconds: 0 });
    await service.database.run(
      `DELETE FROM client_secrets WHERE client_id = '${readId("cli", other.id)}' AND expires_at <= now()`,
    );
    expect(await tampered()).not.toContain(readId("cli", other.id));
    expect(await tampered()).not.toContain(clientId);
    await service.database.run(`DELETE FROM client_secrets WHERE client_id = '${clientId}'`);
    expect(await tampered()).toContain(clientId);
  });
});
