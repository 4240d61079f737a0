import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLostCommitProxy, type LostCommitProxy } from "../../../harness/database/lost-commit-proxy.js";
import { createTestDatabase } from "../../../harness/database/test-database.js";
import { eventually } from "../../../harness/eventually.js";
import { startTestService, type TestService } from "../../../harness/service/test-service.js";

interface Listed {
  action: string;
  object: string | null;
  client_id: string;
  reason: string | null;
}

/** The stop is then recorded by itself, and with it who has stopped. */
describe("a stop whose COMMIT gets no answer is in the audit log once", () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let proxy: LostCommitProxy;
  let service: TestService;
  beforeEach(async () => {
    database = await createTestDatabase();
    proxy = await createLostCommitProxy(database.url);
    const shared = { database, masterKey: randomBytes(32), publicUrl: undefined };
    service = await startTestService({ DATABASE_URL: proxy.url }, shared);
  });
  afterEach(async () => {
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  const unknown = "wlt_01hw000000e008000000000001";
  const entriesOf = async (token: string, object: string) => {
    const { data } = (await (await service.call("GET", `/v1/audit?object=${object}`, token)).json()) as {
      data: Listed[];
    };
    return data;
  };
  /** What is recorded later is written later. */
  const whenWritten = async (token: string) => {
    await service.call("POST", `/v1/wallets/${unknown}/unfreeze`, token);
    await eventually(
      () => entriesOf(token, unknown),
      ({ length }) => length > 0,
    );
  };

  it.each([
    ["was executed", true],
    ["was not executed", false],
  ])("if it %s", async (_, isExecuted) => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    const { clientId: client } = await service.createIndependentClient(owner, ["wallets:read"]);
    const wallets = await service.call("GET", "/v1/wallets", token);
    const { data } = (await wallets.json()) as { data: { id: string }[] };
    const wallet = data[0]?.id ?? "";
    const by = { client_id: owner.clientId };

    proxy.loseNext("SET frozen = ", isExecuted);
    const reason = "stolen";
    expect((await service.call("POST", `/v1/wallets/${wallet}/freeze`, token, { reason })).status).toBe(503);
    proxy.loseNext("UPDATE clients SET name = ", isExecuted);
    const disabled = { state: "disabled" };
    expect((await service.call("PATCH", `/v1/clients/${client}`, token, disabled)).status).toBe(503);
    expect(proxy.lost()).toBe(2);
    await whenWritten(token);
    expect(await entriesOf(token, wallet)).toMatchObject([{ ...by, action: "wallet.freeze", reason }]);
    const changes = (await entriesOf(token, client)).filter(({ action }) => action === "client.change");
    expect(changes).toMatchObject([by]);
  });
});
