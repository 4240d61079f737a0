import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { readId, showId } from "@bursar/protocol";
import { SignJWT } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { createIntegrityKeys } from "../../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../../src/credentials/keyring.js";
import { createSealing } from "../../../../src/credentials/sealing.js";
import { adoptDatabase } from "../../../../src/store/access/integrity.js";
import { withKeys } from "../../../../src/store/core/database.js";
import { sql } from "../../../../src/store/core/sql.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import { startTestService, type TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

interface Made {
  id: string;
  secret: string;
  secrets: { id: string }[];
}

describe("a writer to the database", () => {
  let owner: TestClient;
  let token: string;
  let victim: Made;
  let victimId: string;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
    victim = await create(["audit:read"]);
    victimId = readId("cli", victim.id) ?? "";
  });
  const create = async (scopes: string[]) =>
    (await (await service.call("POST", "/v1/clients", token, { name: "made", scopes })).json()) as Made;
  const run = (statement: string) => service.database.run(statement);
  const requestToken = async (secret: string, clientId = victim.id, scope = "") => {
    const response = await fetch(`${service.url}/oauth/token`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString("base64")}` },
      body: new URLSearchParams({ grant_type: "client_credentials", ...(scope === "" ? {} : { scope }) }),
    });
    return { status: response.status, body: (await response.json()) as { access_token: string } };
  };
  const hashOf = (secret: string) => `'\\x${createHash("sha256").update(secret).digest("hex")}'`;

  it("cannot become a client by inserting the hash of a secret", async () => {
    await run(`INSERT INTO client_secrets (id, client_id, hash, key_id, created_at)
      VALUES (gen_random_uuid(), '${victimId}', ${hashOf("mine")}, '${service.keys.currentId}', now())`);
    expect((await requestToken("mine")).status).toBe(401);
  });

  it("cannot become a client by replacing the hash of its secret", async () => {
    await run(`UPDATE client_secrets SET hash = ${hashOf("mine")} WHERE client_id = '${victimId}'`);
    expect((await requestToken("mine")).status).toBe(401);
  });

  it("cannot become a client by giving it a secret of a client that it knows", async () => {
    const own = await create([]);
    const ownId = readId("cli", own.id) ?? "";
    expect((await requestToken(own.secret, own.id)).status).toBe(200);
    await run(`INSERT INTO client_secrets (id, client_id, hash, key_id, created_at)
      SELECT gen_random_uuid(), '${victimId}', hash, key_id, created_at FROM client_secrets WHERE client_id = '${ownId}'`);
    expect((await requestToken(own.secret)).status).toBe(401);
    // Also if it takes the place of the client's own.
    await run(`DELETE FROM client_secrets WHERE client_id = '${victimId}';
      UPDATE client_secrets SET client_id = '${victimId}' WHERE client_id = '${ownId}'`);
    expect((await requestToken(own.secret)).status).toBe(401);
  });

  it("cannot become a client by inserting a public key", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("hex");
    await run(`INSERT INTO client_keys (id, client_id, algorithm, material, created_at)
      VALUES (gen_random_uuid(), '${victimId}', 'ed25519', '\\x${raw}', now())`);
    const assertion = await new SignJWT({})
      .setProtectedHeader({ alg: "EdDSA" })
      .setIssuer(victim.id)
      .setSubject(victim.id)
      .setAudience(service.url)
      .setJti(randomUUID())
      .setExpirationTime("2m")
      .sign(privateKey);
    const response = await fetch(`${service.url}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: assertion,
      }),
    });
    expect(response.status).toBe(401);
  });

  it("cannot become a client by inserting one", async () => {
    const id = randomUUID();
    const tenantId = readId("tnt", owner.tenantId);
    await run(`
      INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, created_at, updated_at, authority_changed_at)
        VALUES ('${id}', '${tenantId}', 'mine', '{audit:read}', 'active', false, now(), now(), now());
      INSERT INTO client_secrets (id, client_id, hash, created_at) VALUES (gen_random_uuid(), '${id}', ${hashOf("mine")}, now());
      UPDATE clients SET (key_id, mac, credentials) = (SELECT key_id, mac, credentials FROM clients WHERE id = '${victimId}')
        WHERE id = '${id}'`);
    expect((await requestToken("mine", showId("cli", id))).status).toBe(401);
  });

  it.each([
    ["a scope", "scopes = scopes || '{clients:manage}'"],
    ["another tenant", "tenant_id = (SELECT id FROM tenants WHERE id <> tenant_id ORDER BY id LIMIT 1)"],
    ["a later change", "updated_at = now()"],
    ["another name", "name = 'other'"],
  ])("cannot give a client %s", async (_what, change) => {
    expect((await requestToken(victim.secret)).status).toBe(200);
    await run(`UPDATE clients SET ${change} WHERE id = '${victimId}'`);
    expect((await requestToken(victim.secret)).status).toBe(401);
  });

  it("cannot enable a client", async () => {
    await service.call("PATCH", `/v1/clients/${victim.id}`, token, { state: "disabled" });
    await run(`UPDATE clients SET state = 'active', disabled_at = NULL WHERE id = '${victimId}'`);
    expect((await requestToken(victim.secret)).status).toBe(401);
  });

  it("cannot free a client from signing its requests", async () => {
    await service.call("PATCH", `/v1/clients/${victim.id}`, token, { require_signature: true });
    await run(`UPDATE clients SET require_signature = false WHERE id = '${victimId}'`);
    expect((await requestToken(victim.secret)).status).toBe(401);
  });

  it("cannot put back a secret that was removed, nor extend one that expires", async () => {
    const copy = `copy_${victimId.replaceAll("-", "")}`;
    await run(`CREATE TABLE ${copy} AS SELECT * FROM client_secrets WHERE client_id = '${victimId}'`);
    await service.call("DELETE", `/v1/clients/${victim.id}/secrets/${victim.secrets[0]?.id}`, token);
    await run(`INSERT INTO client_secrets SELECT * FROM ${copy}; DROP TABLE ${copy}`);
    expect((await requestToken(victim.secret)).status).toBe(401);

    const other = await create([]);
    const otherId = readId("cli", other.id);
    await service.call("POST", `/v1/clients/${other.id}/secrets`, token, { overlap_seconds: 60 });
    await run(`UPDATE client_secrets SET expires_at = NULL WHERE client_id = '${otherId}'`);
    expect((await requestToken(other.secret, other.id)).status).toBe(401);
  });

  it("ends the tokens of the client that it has changed", async () => {
    const { body } = await requestToken(victim.secret);
    expect((await service.call("GET", "/v1/audit", body.access_token)).status).toBe(200);
    await run(`UPDATE clients SET scopes = scopes || '{clients:manage}' WHERE id = '${victimId}'`);
    await eventually(
      () => service.call("GET", "/v1/audit", body.access_token),
      ({ status }) => status === 401,
    );
  });

  it("is reported in the log, the metrics and the audit log, and its client cannot be changed", async () => {
    await run(`UPDATE clients SET scopes = scopes || '{clients:manage}' WHERE id = '${victimId}'`);
    await requestToken(victim.secret);
    expect(
      service.logLines.some(
        (line) => line.includes("was changed by something other") && line.includes(victim.id),
      ),
    ).toBe(true);
    await eventually(
      async () =>
        (await (await service.call("GET", "/v1/audit", token)).json()) as {
          data: { action: string; object: string; code: string }[];
        },
      ({ data }) => data.some(({ action, object }) => action === "client.tampered" && object === victim.id),
    );
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/^bursar_tampered_clients_total [1-9]/m);
    const changed = await service.call("PATCH", `/v1/clients/${victim.id}`, token, { name: "new" });
    expect([changed.status, ((await changed.json()) as { error: { code: string } }).error.code]).toEqual([
      409,
      "CLIENT_TAMPERED",
    ]);
    const shown = (await (await service.call("GET", `/v1/clients/${victim.id}`, token)).json()) as {
      state: string;
    };
    expect(shown.state).toBe("disabled");
  });

  it("is refused although other processes and a restart see the same rows", async () => {
    await run(
      `INSERT INTO client_secrets (id, client_id, hash, created_at) VALUES (gen_random_uuid(), '${victimId}', ${hashOf("mine")}, now())`,
    );
    const another = await service.another();
    try {
      const own = { clientId: victim.id, secret: "mine" };
      await expect(another.token(own)).rejects.toThrow("failed");
    } finally {
      await another.stop();
    }
  });
});

describe("a writer to the database who makes it look like one without keys", () => {
  it("does not get its own rows authenticated", async () => {
    const first = await startTestService();
    const owner = await first.createTenant();
    const hash = `'\\x${createHash("sha256").update("mine").digest("hex")}'`;
    await first.service.stop();
    await first.database.run(`
      DELETE FROM retained_keys;
      UPDATE clients SET mac = NULL, key_id = NULL, credentials = NULL;
      ALTER TABLE audit_heads DISABLE TRIGGER ALL;
      UPDATE audit_heads SET mac = NULL, number = 0;
      INSERT INTO client_secrets (id, client_id, hash, created_at)
        VALUES (gen_random_uuid(), '${readId("cli", owner.clientId)}', ${hash}, now())`);
    await expect(first.another()).rejects.toThrow("restore the table from a backup");
    // Nor if it removes every client and the audit log as well as it can.
    await first.database.run("DELETE FROM audit_heads");
    await expect(first.another()).rejects.toThrow("restore the table from a backup");
    await first.database.drop();
  });
});

describe("clients of an earlier version", () => {
  it("keep their secrets and keys when they are authenticated for the first time", async () => {
    const first = await startTestService();
    const owner = await first.createTenant();
    const id = readId("cli", owner.clientId);
    // As the earlier version has stored them: plain hashes, an unkeyed chain and no MACs.
    await first.service.stop();
    await first.database.run(`
      UPDATE client_secrets SET key_id = NULL, hash = '\\x${createHash("sha256").update(owner.secret).digest("hex")}'
        WHERE client_id = '${id}';
      UPDATE clients SET key_id = NULL, mac = NULL, credentials = NULL;
      DELETE FROM retained_keys;
      ALTER TABLE audit_entries DISABLE TRIGGER ALL; ALTER TABLE audit_heads DISABLE TRIGGER ALL;
      DELETE FROM audit_entries; DELETE FROM audit_heads;
      ALTER TABLE audit_entries ENABLE TRIGGER ALL; ALTER TABLE audit_heads ENABLE TRIGGER ALL`);
    // Whether an earlier version has left them so, or an attacker, only the operator can say.
    await expect(first.another()).rejects.toThrow("bursar keys adopt");
    const keys = createIntegrityKeys(createSealing(createKeyring([first.masterKey])));
    const adopt = () => adoptDatabase(withKeys(first.database, keys), keys.retain, new Date());
    expect(await adopt()).toBe(true);
    expect(await adopt()).toBe(false);
    const services = await Promise.all([first.another(), first.another()]);
    try {
      for (const service of services) await expect(service.token(owner)).resolves.toBeDefined();
      // Only the first time.
      await first.database.run("UPDATE clients SET key_id = NULL, mac = NULL, credentials = NULL");
      const later = await first.another();
      services.push(later);
      await expect(later.token(owner)).rejects.toThrow("failed");
    } finally {
      for (const service of services) await service.stop();
      await first.database.drop();
    }
  });
});

describe("a database whose keys and MACs were removed", () => {
  it.each([
    ["the audit log", ""],
    [
      "a secret",
      `ALTER TABLE audit_entries DISABLE TRIGGER ALL; UPDATE audit_entries SET key_id = NULL;
       ALTER TABLE audit_entries ENABLE TRIGGER ALL`,
    ],
  ])("is not adopted, because %s shows that it had them", async (_, more) => {
    const first = await startTestService();
    try {
      await first.createTenant();
      await first.service.stop();
      await first.database.run(`
        UPDATE clients SET key_id = NULL, mac = NULL, credentials = NULL;
        UPDATE audit_heads SET key_id = NULL, mac = NULL;
        DELETE FROM retained_keys;
        ${more}`);
      const keys = createIntegrityKeys(createSealing(createKeyring([first.masterKey])));
      await expect(adoptDatabase(withKeys(first.database, keys), keys.retain, new Date())).rejects.toThrow(
        "were authenticated before",
      );
      expect(await first.database.query(sql`SELECT key_id FROM retained_keys`)).toEqual([]);
    } finally {
      await first.database.drop();
    }
  });
});
