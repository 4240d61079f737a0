import { randomUUID } from "node:crypto";
import { tradingPolicy } from "@bursar/domain";
import { grantableScopes, isVisibleText, readId, type Transaction } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../src/store/core/sql.js";
import { hasBrowser } from "../harness/browser.js";
import { fillPath, routerPaths } from "../harness/console/console-pages.js";
import { hiddenCharacters, hostileStrings } from "../harness/console/hostile-strings.js";
import { overflowOf, settle } from "../harness/console/look-at-page.js";
import { useConsole } from "../harness/console/test-console.js";
import type { Visitor } from "../harness/console/visitor.js";
import { eventually } from "../harness/eventually.js";
import { createObjects } from "../harness/http/route-requests.js";
import type { TestClient, TestService } from "../harness/service/test-service.js";

const narrow = { width: 320, height: 640 };
const wide = { width: 1280, height: 800 };
/** A row has one line, or an address in two; marks above and below letters must not make it higher. */
const rowHeightMax = 120;

/** The name of a client, which is the beginning of no other change. */
const disguised = 'Grace", scope_added:policies:manage, role:admin';

/** Strings of others in every field that the service takes them in. Some fields refuse some of them, which is as good. */
describe.runIf(hasBrowser)("what others have written", () => {
  const running = useConsole();
  let ada: Visitor;
  let objects: Record<string, string>;
  let commented: string;
  const written: Record<string, { id: string; text: string }[]> = {};

  beforeAll(async () => {
    const { service, join } = running();
    const owner = await service.createTenant("100000");
    const token = await service.token(owner);
    const post = async (path: string, body: object) => {
      const answer = await service.call("POST", path, token, body, { "idempotency-key": randomUUID() });
      return { status: answer.status, body: (await answer.json()) as { id: string } };
    };
    /** Writes each string, and notes those that were taken. */
    const write = async (
      name: string,
      path: string,
      texts: readonly string[],
      bodyOf: (text: string) => object,
    ) => {
      const answers = await Promise.all(
        texts.map(async (text) => ({ text, ...(await post(path, bodyOf(text))) })),
      );
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
      written[name] = answers
        .filter(({ status }) => status < 300)
        .map(({ text, body }) => ({ id: body.id, text }));
    };
    objects = await createObjects(service, token, owner.clientId);
    const some = hostileStrings.filter((_, index) => index % 8 === 0);
    await write("transactions", "/v1/transactions", hostileStrings, (text) => ({
      reference: text,
      asset: "USD",
      amount: "0.01",
      metadata: { note: text },
    }));
    await write("wallets", "/v1/wallets", hostileStrings, (text) => ({ name: text, purpose: "payout" }));
    await write("orders", "/v1/orders", some, (text) => ({
      market: "ETH-USD",
      side: "buy",
      price: "1",
      size: "1",
      reference: text,
    }));
    await write("people", "/v1/people", some, (text) => ({
      email: `p${randomUUID()}@treasury.example`,
      name: text,
      role: "viewer",
    }));
    await writeUnseenName(service, written["people"]?.[0]?.id ?? "");
    await write("clients", "/v1/clients", some, (text) => ({ name: text, scopes: [] }));
    await write("destinations", "/v1/destinations", some, (text) => ({
      label: text,
      network: "eip155:1",
      address: `0x${randomUUID().replaceAll("-", "")}00000000`,
    }));
    await write("endpoints", "/v1/webhook-endpoints", some.slice(0, 10), (text) => ({
      url: `https://hooks.example/${encodeURIComponent(text)}`,
      description: text,
    }));
    expect((await post("/v1/clients", { name: disguised, scopes: ["wallets:read"] })).status).toBe(201);
    const [reason] = sentences(1);
    const frozen = await service.call("POST", `/v1/wallets/${written["wallets"]?.[0]?.id}/freeze`, token, {
      reason,
    });
    expect(frozen.status).toBe(200);
    commented = await writeComments(service, owner, token);
    await service.call("POST", "/v1/roles", token, { name: "everything", scopes: grantableScopes });
    ada = await join(owner, "everything", { name: "<b>Ada</b>", context: { viewport: wide } });
  });

  it("was taken in most places", () => {
    expect(hostileStrings.length).toBeGreaterThanOrEqual(200);
    const counts = Object.fromEntries(Object.entries(written).map(([name, list]) => [name, list.length]));
    expect(counts["transactions"]).toBeGreaterThan(100);
    expect(counts["wallets"]).toBeGreaterThan(80);
    for (const [name, count] of Object.entries(counts)) expect([name, count > 0]).toEqual([name, true]);
  });

  it("was refused as the name of a person if it changes the order of others", () => {
    expect(written["people"]?.filter(({ text }) => /[\p{Cc}\u202a-\u202e]/u.test(text))).toEqual([]);
  });

  it.each(routerPaths().filter((path) => !path.includes("$")))("does nothing on %s", async (path) => {
    await ada.open(path);
    await lookThrough(path);
  });

  it.each(routerPaths().filter((path) => /\/(transactions|wallets)\/\$id$/.test(path)))(
    "does nothing on %s of the worst ones",
    async (path) => {
      const list = written[path.split("/")[1] ?? ""] ?? [];
      const worst = list.filter(({ text }, index) => index % 25 === 0 || text.length > 80);
      for (const { id } of worst.slice(0, 12)) {
        await ada.open(fillPath(path, { ...objects, transactions: id, wallets: id }));
        await lookThrough(path);
      }
    },
  );

  it("does nothing in the comments of approvals", async () => {
    for (const path of [`/approvals/${commented}`, `/transactions/${commented}`]) {
      await ada.open(path);
      await lookThrough(path);
    }
    await ada.open(`/approvals/${commented}`);
    await ada.page.getByRole("table", { name: "Decisions" }).getByText("as agreed").first().waitFor();
  });

  it("does not look like another change in the audit log", async () => {
    const { page } = ada;
    await page.setViewportSize(wide);
    await ada.open("/audit?action=client.create");
    const lists = page.getByRole("list", { name: "Changes" }).filter({ hasText: disguised });
    await lists.first().waitFor();
    expect(await lists.count()).toBe(1);
    // Each is an element of its own, and what somebody has typed is quoted.
    expect(await lists.getByRole("listitem").allInnerTexts()).toEqual([
      `name ${disguised}`,
      "scope added wallets:read",
    ]);
    // The cell does not cut them.
    const [list, cell] = [await lists.boundingBox(), await lists.locator("..").boundingBox()];
    const endOf = (box: typeof list) => (box?.x ?? 0) + (box?.width ?? 0);
    expect(endOf(list)).toBeLessThanOrEqual(endOf(cell));
    expect(await lists.locator("q").allInnerTexts()).toEqual([disguised, "wallets:read"]);
  });

  it("does nothing in the reason of a rule", async () => {
    const { page } = ada;
    await page.setViewportSize(wide);
    await ada.open("/policy");
    await page.getByLabel("Asset", { exact: true }).selectOption("USD");
    await page.getByLabel("Amount", { exact: true }).fill("90000");
    await page.getByRole("button", { name: "Try this payment" }).click();
    await page.getByText("The policy rejects this payment").waitFor();
    await page.getByText("U+202E").first().waitFor();
    await lookThrough("/policy");
  });

  /** Scrolls through every table of the page, in both widths. */
  async function lookThrough(path: string): Promise<void> {
    const { page, faults } = ada;
    await settle(page);
    for (const viewport of [wide, narrow]) {
      await page.setViewportSize(viewport);
      for (let step = 0; ; step += 1) {
        const seen = (await page.evaluate(`(${look})(${step}, ${viewport === wide})`)) as Seen;
        expect({ path, viewport, step, ...seen, isMore: false }).toEqual({
          path,
          viewport,
          step,
          isHacked: false,
          hidden: [],
          high: [],
          isMore: false,
        });
        if (!seen.isMore) break;
        await page.waitForTimeout(60);
      }
      expect([path, viewport.width, await overflowOf(page)]).toEqual([path, viewport.width, 0]);
    }
    expect([path, ...faults.splice(0)]).toEqual([path]);
  }
});

/** Several of them in one string that fields for sentences take. */
function sentences(count: number, begin = "pay\u202Eexe.fdp", isTaken = (_: string) => true): string[] {
  const found = Array.from({ length: count }, () => begin);
  const isShort = (text: string) => !/[\p{Cc}\p{Cs}]/u.test(text) && text.length < 100;
  const shown = hostileStrings.filter((text) => isShort(text) && isTaken(text));
  for (const [index, text] of shown.entries()) {
    const at = index % count;
    const longer = `${found[at]} ${text}`;
    if (longer.length <= 200) found[at] = longer;
  }
  return found;
}

/** The API refuses such a name of a person. A row that an earlier version, or a writer to the database, has written is shown all the same. */
async function writeUnseenName(service: TestService, id: string): Promise<void> {
  await service.database.query(sql`
    UPDATE clients SET name = ${"<b>Grace</b>\u202e"} WHERE id = ${readId("cli", id)}
  `);
}

/** The id of a payment on which three have commented. A rule of the policy has such a reason. */
async function writeComments(service: TestService, owner: TestClient, ownToken: string): Promise<string> {
  const [reason] = sentences(1);
  const comments = sentences(3, "as agreed", isVisibleText);
  const usd = (min: string) => ({ amount: { asset: "USD", min } });
  const rules = [
    { name: "too-much", when: usd("80000"), action: "reject", reason },
    { name: "much", when: usd("50000"), action: "require_approval", approvals: 4 },
  ];
  const policy = { ...tradingPolicy, rules: [...rules, ...tradingPolicy.rules] };
  const replaced = await service.call("PUT", "/v1/policy", ownToken, policy, { "if-match": '"1"' });
  expect(replaced.status).toBe(200);
  // They decide about payments that were requested after they got their scopes.
  const approvers = await Promise.all(
    comments.map(() => service.createIndependentClient(owner, ["transactions:approve", "transactions:read"])),
  );
  const payment = { reference: "commented", asset: "USD", amount: "60000" };
  const created = await service.call("POST", "/v1/transactions", ownToken, payment, {
    "idempotency-key": "commented",
  });
  const { id } = (await created.json()) as { id: string };
  const { approval } = await eventually(
    async () => (await (await service.call("GET", `/v1/transactions/${id}`, ownToken)).json()) as Transaction,
    (found) => found.approval !== null,
  );
  for (const [index, comment] of comments.entries()) {
    const token = approvers[index]?.token ?? "";
    const body = { decision: "approve", digest: approval?.digest, comment };
    const decided = await service.call("POST", `/v1/transactions/${id}/approvals`, token, body);
    expect([decided.status, comment]).toEqual([202, comment]);
  }
  return id;
}

interface Seen {
  isHacked: boolean;
  hidden: string[];
  high: string[];
  isMore: boolean;
}

/** Runs in the page: looks at every string in it, and scrolls its tables on by one window. */
const look = `(step, isWide) => {
  const hidden = new RegExp(${JSON.stringify(hiddenCharacters)}, "u");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    if (hidden.test(node.data) && node.parentElement.closest("textarea, pre") === null) found.push(escape(node.data).slice(0, 80));
  for (const one of document.querySelectorAll("[title], [aria-label], [placeholder]"))
    for (const name of ["title", "aria-label", "placeholder"])
      if (hidden.test(one.getAttribute(name) ?? "")) found.push(name + " " + escape(one.getAttribute(name)).slice(0, 80));
  const high = [...document.querySelectorAll(".scroller.tall tbody tr:not(.spacer)")]
    .filter((row) => isWide && row.getBoundingClientRect().height > ${rowHeightMax})
    .map((row) => escape(row.textContent).slice(0, 80));
  let isMore = false;
  for (const scroller of document.querySelectorAll(".scroller.tall")) {
    if (step === 0) scroller.scrollTop = 0;
    const before = scroller.scrollTop;
    scroller.scrollTop += scroller.clientHeight;
    if (scroller.scrollTop > before) isMore = true;
  }
  return { isHacked: globalThis.hacked !== undefined, hidden: found, high, isMore: isMore && step < 40 };
}`;
