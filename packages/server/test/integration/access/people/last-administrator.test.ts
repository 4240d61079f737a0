import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import type { Authenticator } from "../../../harness/people/authenticator.js";
import { callConfirmed, registerWith, tokenOf } from "../../../harness/people/log-in.js";
import { inspectTamperedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await inspectTamperedService();

interface Admin {
  id: string;
  token: string;
  authenticator: Authenticator;
}

describe("the last administrator", () => {
  let owner: TestClient;
  let ada: Admin;
  beforeEach(async () => {
    owner = await service.createTenant();
    ada = await join("ada@treasury.example");
  });

  const invite = (email: string) =>
    service.inviteAsOperator(owner, { email, name: "Somebody", role: "admin" });
  async function join(email: string): Promise<Admin> {
    const { cookie, authenticator } = await registerWith(service, await invite(email));
    const token = await tokenOf(service, cookie);
    const me = (await (await service.call("GET", "/v1/me", token)).json()) as { client: { id: string } };
    return { id: me.client.id, token, authenticator };
  }
  const change = async (by: Admin, resource: "people" | "clients", body: object) => {
    const id = resource === "people" ? "changePerson" : "changeClient";
    const path = `/v1/${resource}/${by.id}`;
    const answer = await callConfirmed(service, by, { id, method: "PATCH", path }, body);
    const { error } = (await answer.json()) as { error?: { code: string } };
    return error?.code ?? answer.status;
  };

  it("does not disable themselves, nor take a lesser role, whom an invitation alone would replace", async () => {
    await invite("grace@treasury.example");
    await join("viewer@treasury.example").then((other) => change(other, "people", { role: "viewer" }));
    expect(await change(ada, "people", { state: "disabled" })).toBe("ADMINISTRATOR_IS_LAST");
    expect(await change(ada, "clients", { state: "disabled" })).toBe("ADMINISTRATOR_IS_LAST");
    expect(await change(ada, "people", { role: "auditor" })).toBe("ADMINISTRATOR_IS_LAST");
    expect(await change(ada, "people", { name: "Ada L." })).toBe(200);
  });

  it("is somebody whose other administrator has an account of a provider that is not configured", async () => {
    const { id } = await join("grace@treasury.example");
    const grace = readId("cli", id);
    await service.database.query(sql`
      UPDATE clients SET oidc_issuer = 'https://gone.example', oidc_subject = 'grace' WHERE id = ${grace}`);
    await service.database.query(sql`DELETE FROM client_keys WHERE client_id = ${grace}`);
    expect(await change(ada, "people", { state: "disabled" })).toBe("ADMINISTRATOR_IS_LAST");
  });

  it("is one of a tenant, so that somebody of another tenant does not count", async () => {
    const tenant = owner;
    owner = await service.createTenant();
    await join("grace@treasury.example");
    owner = tenant;
    expect(await change(ada, "people", { state: "disabled" })).toBe("ADMINISTRATOR_IS_LAST");
  });

  it("is somebody else as soon as there are two, and then only one of them leaves", async () => {
    const grace = await join("grace@treasury.example");
    expect(await change(ada, "people", { state: "disabled" })).toBe(200);
    expect(await change(grace, "people", { state: "disabled" })).toBe("ADMINISTRATOR_IS_LAST");
  });

  it("is one of two who leave at the same time", async () => {
    const others = await Promise.all(["b", "c", "d"].map((name) => join(`${name}@treasury.example`)));
    const left = await Promise.all(
      [ada, ...others].map((admin) => change(admin, "people", { state: "disabled" })),
    );
    expect(left.filter((result) => result === 200)).toHaveLength(3);
    expect(left).toContain("ADMINISTRATOR_IS_LAST");
  });

  it("is not replaced by somebody whom a record has stopped, nor by one whose passkeys have expired", async () => {
    const stopped = readId("cli", (await join("grace@treasury.example")).id);
    const expired = readId("cli", (await join("lin@treasury.example")).id);
    await service.database.query(sql`
      INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
      SELECT tenant_id, id, 1, true, now() FROM clients WHERE id = ${stopped}
    `);
    await service.database.query(
      sql`UPDATE client_keys SET expires_at = now() - interval '1 minute' WHERE client_id = ${expired}`,
    );
    expect(await change(ada, "people", { state: "disabled" })).toBe("ADMINISTRATOR_IS_LAST");
  });
});
