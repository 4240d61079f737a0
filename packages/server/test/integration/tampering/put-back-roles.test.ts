import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";
import type { TestClient } from "../../harness/service/test-service.js";

const service = await inspectTamperedService();

describe("a deleted role that the role of the service puts back, with its MAC", () => {
  let role: ServiceRole;
  let owner: TestClient;
  let token: string;
  let own: string;
  let kept: string;
  beforeAll(async () => {
    role = await createServiceRole(service.database);
  });
  afterAll(() => role?.drop());
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
    const id = readId("tnt", owner.tenantId) ?? "";
    own = `tenant_id = '${id}'`;
    kept = `kept_${id.replaceAll("-", "")}`;
    await write(["wallets:read", "transactions:approve"]);
    await service.database.run(
      `CREATE TABLE ${kept} AS SELECT * FROM roles WHERE ${own}; GRANT SELECT ON ${kept} TO PUBLIC`,
    );
    expect((await service.call("DELETE", "/v1/roles/payments", token)).status).toBe(204);
    return () => service.database.run(`DROP TABLE ${kept}`);
  });

  const write = async (scopes: string[]) =>
    expect((await service.call("POST", "/v1/roles", token, { name: "payments", scopes })).status).toBe(201);
  const invite = () =>
    service.call("POST", "/v1/people", token, { email: "x@x.example", name: "X", role: "payments" });
  const names = async () => {
    const { data } = (await (await service.call("GET", "/v1/roles", token)).json()) as {
      data: { name: string }[];
    };
    return data.map(({ name }) => name);
  };

  it("is not given to anybody, and not listed", async () => {
    await role.run(`INSERT INTO roles SELECT * FROM ${kept}`);
    expect((await invite()).status).toBe(404);
    expect(await names()).not.toContain("payments");
    // It does not keep the name, and can be deleted.
    expect((await service.call("DELETE", "/v1/roles/payments", token)).status).toBe(204);
    await write(["wallets:read"]);
    expect((await invite()).status).toBe(201);
  });

  it("does not replace the role that has its name now", async () => {
    await write(["wallets:read"]);
    await role.run(`DELETE FROM roles WHERE ${own}; INSERT INTO roles SELECT * FROM ${kept}`);
    expect((await invite()).status).toBe(404);
  });

  it("stays deleted whatever else is recorded, because the records cannot be changed", async () => {
    await role.run(`INSERT INTO roles SELECT * FROM ${kept}`);
    await role.run(`
      INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
      SELECT tenant_id, subject_id, number + 1, false, now() FROM stop_records WHERE ${own}`);
    expect((await invite()).status).toBe(404);
    await expect(role.run(`DELETE FROM stop_records WHERE ${own}`)).rejects.toThrow("permission denied");
  });
});
