import { type ApprovalRecords, type ChangeRequest, readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { secretContexts } from "../../../src/compose/secret-contexts.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { Statement, sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../harness/access/officers.js";
import { shortLivedToken } from "../../harness/access/short-lived-token.js";
import { eventually } from "../../harness/eventually.js";
import { newKeyPair, type SigningKey, signedPost } from "../../harness/http/signed-call.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();
const sealing = createSealing(createKeyring([service.masterKey]));

/** What was decided with a signed request, and where its signatures are. */
interface Subject {
  id: string;
  path: string;
  table: string;
  column: string;
  /** The tables that have rows about it, with the column of its id. */
  copied: [table: string, column: string][];
  contexts: (typeof secretContexts)["approval"];
  tampered: string;
}

describe.each(["transaction", "change request"] as const)(
  "the signature base of a decision on a %s",
  (kind) => {
    let tenant: GuardedTenant;
    let officer: Person;
    let auditor: Person;
    let key: SigningKey;
    beforeEach(async () => {
      tenant = await createGuardedTenant(service);
      officer = await tenant.hire(["transactions:approve", "transactions:read", "clients:manage"]);
      auditor = await tenant.hire(["audit:read"]);
      const { publicKey, privateKey } = newKeyPair();
      key = { keyId: await service.addKeyAsOperator(officer, publicKey), privateKey };
    });

    let more: Record<string, string>;
    beforeEach(() => {
      more = {};
    });
    const sign = async (path: string, body: object, token: string) => {
      expect((await signedPost(service.url + path, token, key, body, more)).ok).toBe(true);
    };
    const decide = async (token = officer.token): Promise<Subject> => {
      if (kind === "transaction") {
        const { id, approval } = await tenant.pay(tenant.admin);
        const path = `/v1/transactions/${id}/approvals`;
        await sign(path, { decision: "approve", digest: approval?.digest }, token);
        const copied: Subject["copied"] = [
          ["transactions", "id"],
          ["judgements", "transaction_id"],
          ["approvals", "transaction_id"],
          ["approval_signatures", "transaction_id"],
          ["events", "subject_id"],
        ];
        const stored = { table: "approval_signatures", column: "transaction_id", copied };
        const expected = { contexts: secretContexts.approval, tampered: "TRANSACTION_TAMPERED" };
        return { id: readId("tx", id) ?? "", path, ...stored, ...expected };
      }
      const change = { client_id: (await tenant.hire()).clientId, state: "disabled" };
      const asked = await tenant.call(tenant.admin, "POST", "/v1/change-requests", {
        kind: "client.change",
        change,
      });
      const { id, digest } = asked.body as unknown as ChangeRequest;
      await sign(`/v1/change-requests/${id}/approve`, { digest }, token);
      const copied: Subject["copied"] = [
        ["change_requests", "id"],
        ["change_decisions", "change_request_id"],
        ["change_signatures", "change_request_id"],
      ];
      return {
        ...{ id: readId("chr", id) ?? "", path: `/v1/change-requests/${id}/decisions` },
        ...{ table: "change_signatures", column: "change_request_id", copied },
        ...{ contexts: secretContexts.changeDecision, tampered: "CHANGE_REQUEST_TAMPERED" },
      };
    };
    const read = async (who: Person, { path }: Subject) => {
      const { status, code, body } = await tenant.call(who, "GET", path);
      const [decision] = (body as unknown as Partial<ApprovalRecords>).data ?? [];
      return { status, code, signature: decision?.signature, text: JSON.stringify(body) };
    };
    const idOf = ({ tenantId }: Person) => readId("tnt", tenantId) ?? "";

    it("does not show a token that can be used after its time was changed in the database", async () => {
      const decided = await decide();
      await service.database.run(
        `UPDATE ${decided.table} SET base_available_at = now() - interval '1 hour', algorithm = 'passkey'`,
      );
      const shown = await read(auditor, decided);
      expect(shown).toMatchObject({ status: 200, signature: { base: null } });
      expect(shown.text).not.toContain(officer.token);
      expect(Date.parse(shown.signature?.base_available_at ?? "")).toBeGreaterThan(Date.now() + 600_000);
    });

    it("is not ruined by what the approver has signed beside it", async () => {
      const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
      const claims = { exp: 1e300, tenant_id: (await service.createTenant()).tenantId };
      more = { "x-copy": `${part({ alg: "EdDSA" })}.${part(claims)}.c2ln` };
      const shown = await read(auditor, await decide());
      expect(shown).toMatchObject({ status: 200, signature: { base: null } });
      const shownAtMs = Date.parse(shown.signature?.base_available_at ?? "");
      expect(shownAtMs).toBeLessThanOrEqual(Date.now() + 2 * 900_000);
    });

    const copyTo = async (other: Person, { id, copied }: Subject) => {
      for (const [table, column] of copied) {
        const [found] = await service.database.query<{ names: string[] }>(sql`
        SELECT array_agg(quote_ident(column_name)::text) AS names FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = ${table} AND column_name <> 'tenant_id' AND is_generated = 'NEVER'
      `);
        const names = found?.names.join(", ");
        await service.database.run(`
        INSERT INTO ${table} (tenant_id, ${names}) SELECT '${idOf(other)}', ${names} FROM ${table}
        WHERE tenant_id = '${idOf(officer)}' AND ${column} = '${id}'`);
      }
    };

    it("is not shown to another tenant that the rows were copied to", async () => {
      const decided = await decide();
      const owner = await service.createTenant();
      const other: Person = { ...owner, token: await service.token(owner) };
      await copyTo(other, decided);
      await service.database.run(`UPDATE ${decided.table} SET base_available_at = now() - interval '1 hour'`);
      const shown = await read(other, decided);
      expect(shown).toMatchObject({ status: 409, code: decided.tampered });
      expect(shown.text).not.toContain(officer.token);
    });

    it("from before tenants were part of the seal is shown once its token has expired, to its tenant only", async () => {
      const decided = await decide(await shortLivedToken(service, officer.token));
      const { table, column, id, contexts } = decided;
      const [row] = await service.database.query<{ base: Buffer }>(
        new Statement(`SELECT base FROM ${table} WHERE ${column} = $1`, [id]),
      );
      const base = sealing.open(
        contexts.current({ tenantId: idOf(officer), id }),
        row?.base ?? Buffer.alloc(0),
      );
      const sealed = Buffer.from(sealing.seal(contexts.old(id), base ?? Buffer.alloc(0)));
      await service.database.query(
        new Statement(`UPDATE ${table} SET base = $1 WHERE ${column} = $2`, [sealed, id]),
      );
      const owner = await service.createTenant();
      const other: Person = { ...owner, token: await service.token(owner) };
      await copyTo(other, decided);
      const shown = await eventually(
        () => read(auditor, decided),
        ({ signature }) => signature?.base !== null,
      );
      expect(shown.signature?.base).toContain('"authorization": Bearer ');
      expect(await read(other, decided)).toMatchObject({ status: 409, code: decided.tampered });
    });
  },
);

describe("approvals that are signed with one key", () => {
  it("count once after the key of a signature was removed or replaced in the database", async () => {
    const tenant = await createGuardedTenant(service, 2);
    const { publicKey, privateKey } = newKeyPair();
    const [one, other, third] = [await tenant.hire(), await tenant.hire(), await tenant.hire()];
    const keyOf = async (who: Person) => ({
      keyId: await service.addKeyAsOperator(who, publicKey),
      privateKey,
    });
    const [ofOne, ofOther] = [await keyOf(one), await keyOf(other)];
    for (const replacement of ["NULL", "sha256(public_key)"]) {
      const payment = await tenant.pay(tenant.admin);
      const url = `${service.url}/v1/transactions/${payment.id}/approvals`;
      const decision = { decision: "approve", digest: payment.approval?.digest };
      expect((await signedPost(url, one.token, ofOne, decision)).status).toBe(202);
      await service.database.run(
        `UPDATE approval_signatures SET public_key = ${replacement} WHERE transaction_id = '${readId("tx", payment.id)}'`,
      );
      expect((await signedPost(url, other.token, ofOther, decision)).status).toBe(202);
      await tenant.tallied(payment);
      expect((await tenant.read(payment.id)).state).toBe("awaiting_approval");
      expect((await tenant.approve(third, payment)).status).toBe(202);
      await tenant.completes(payment);
    }
  });
});
