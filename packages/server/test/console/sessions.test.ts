import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../src/http/api.js";
import { hasBrowser } from "../harness/browser.js";
import { clickTwice } from "../harness/console/click-twice.js";
import { type ForeignSite, startForeignSite } from "../harness/console/foreign-site.js";
import { useConsole } from "../harness/console/test-console.js";
import { eventually } from "../harness/eventually.js";
import { pathOf, requiredQueryOf, unknownIds } from "../harness/http/route-requests.js";
import { callConsole } from "../harness/people/log-in.js";
import type { TestClient } from "../harness/service/test-service.js";

/** What a browser does with passkeys and cookies by itself. What a forged request can do is tested without one. */
describe.runIf(hasBrowser)("a person in a browser", () => {
  const running = useConsole();
  let owner: TestClient;
  let site: ForeignSite;
  beforeAll(async () => {
    owner = await running().service.createTenant("100");
    site = await startForeignSite();
  });
  afterAll(() => site.stop());

  it("is invited, creates a passkey, logs out and in again", async () => {
    const invitation = await running().invite(owner, "viewer");
    const ada = await running().visit();
    await ada.page.goto(invitation);
    await ada.page.reload();
    // An impatient person clicks twice. Of two passkeys, the device would keep the one that the service does not know.
    await clickTwice(ada.page.getByRole("button", { name: "Create a passkey" }));
    await ada.page.locator("[data-page-title]").first().waitFor();
    expect(ada.page.url()).toBe(`${running().origin}/console/`);
    expect(await ada.page.title()).toBe("Overview · Bursar");
    expect(await ada.context.cookies()).toMatchObject([
      { name: "__Host-bursar-session", httpOnly: true, secure: true, sameSite: "Strict", path: "/" },
    ]);
    // When somebody last did something, for all tabs.
    expect(await ada.page.evaluate("document.cookie + Object.keys(localStorage)")).toBe(
      "bursar-last-activity",
    );
    await ada.page.getByRole("button", { name: "Log out" }).click();
    await ada.page.getByRole("button", { name: "Log in with a passkey" }).waitFor();
    expect(await ada.context.cookies()).toEqual([]);
    await ada.logIn();
    await ada.open("/account");
    // This device has one, which another one would replace.
    await ada.page.getByRole("button", { name: "Add a passkey" }).click();
    await ada.page.getByText("This device already has a passkey for you").waitFor();
    await ada.page.goto("about:blank");
    await ada.page.goto(invitation);
    await ada.page.getByText("This link does not work").waitFor();
    expect(await ada.page.getByRole("button", { name: "Create a passkey" }).count()).toBe(0);
    await ada.page.getByRole("button", { name: "Go to the login" }).click();
    await ada.page.locator("[data-page-title]").first().waitFor();
    await ada.close();
  });

  it("keeps what was typed when the session ends, and goes on after logging in", async () => {
    const ada = await running().join(owner, "operator");
    await ada.open("/transactions/new");
    // What is pasted is not cut without a word.
    await ada.page.getByLabel("Reference").fill("x".repeat(300));
    await ada.page.getByText("It has 300 characters. At most 128 are allowed.").waitFor();
    expect(await ada.page.getByLabel("Reference").inputValue()).toHaveLength(300);
    await ada.page.getByLabel("Reference").fill("rent of May");
    await ada.context.clearCookies();
    await ada.page.reload();
    await ada.logIn();
    expect(await ada.page.getByLabel("Reference").inputValue()).toBe("rent of May");
    await ada.close();
  });

  it("is asked to log in after half an hour in which they did nothing, although the page is live", async () => {
    const tenant = await running().service.createTenant("100");
    const ada = await running().visit();
    let streams = 0;
    ada.page.on("websocket", (socket) => {
      socket.once("framereceived", () => {
        streams += 1;
      });
    });
    await ada.page.clock.install();
    await ada.accept(await running().invite(tenant, "viewer"));
    const opened = streams;
    await ada.open("/transactions");
    await ada.page.getByRole("status").getByText("live").waitFor();
    await eventually(
      () => streams,
      (count) => count > opened,
    );
    // Each time the token has expired, and the page asks for another one by itself, as its stream is silent for too long.
    for (let minutes = 0; minutes < 25; minutes += 5) {
      const token = ada.page.waitForResponse("**/console/session/token");
      const before = streams;
      await ada.page.clock.fastForward("05:00");
      expect((await token).status()).toBe(200);
      await eventually(
        () => streams,
        (count) => count > before,
      );
    }
    await ada.page.clock.fastForward("06:00");
    await ada.page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    const statusOfToken = `fetch("/console/session/token", { method: "POST" }).then(({ status }) => status)`;
    expect(await ada.page.evaluate(statusOfToken)).toBe(401);
    await ada.close();
  });

  it("does nothing as somebody else who has logged in in another tab", async () => {
    const ada = await running().join(owner, "operator", { name: "Ada" });
    const bob = await running().join(owner, "operator", { name: "Bob" });
    const before = await transactionsOf();
    await ada.open("/transactions/new");
    await ada.page.getByLabel("Reference").fill("typed by Ada");
    await ada.page.getByLabel("Asset").selectOption("USD");
    await ada.page.getByLabel("Amount").fill("1");
    await ada.context.addCookies(await bob.context.cookies());
    const refusal = {
      error: { code: "UNAUTHENTICATED", message: "The token has expired.", request_id: "1" },
    };
    await ada.page.route("**/v1/transactions", (route) => route.fulfill({ status: 401, json: refusal }), {
      times: 1,
    });
    await ada.page.getByRole("button", { name: "Send", exact: true }).click();
    await ada.page.getByRole("button", { name: "Send it" }).click();
    await ada.page.locator("header").getByText("Bob").first().waitFor();
    expect(await ada.page.getByLabel("Reference").inputValue()).toBe("");
    expect(await transactionsOf()).toBe(before);
    await Promise.all([ada.close(), bob.close()]);
  });

  it("opens nothing under /v1 with the cookie alone", async () => {
    const ada = await running().join(owner, "admin");
    const paths = listRoutes({} as never, "")
      .filter(({ method, path }) => method === "GET" && path.startsWith("/v1/"))
      .map((route) => pathOf(route, unknownIds) + requiredQueryOf(route));
    expect(paths.length).toBeGreaterThan(30);
    const statuses = await ada.page.evaluate(`Promise.all(${JSON.stringify(paths)}.map(async (path) =>
      (await fetch(path, { credentials: "include" })).status))`);
    expect(statuses).toEqual(paths.map(() => 401));
    const written = await ada.page.evaluate(`fetch("/v1/transactions", {
      method: "POST", credentials: "include",
      headers: { "content-type": "application/json", "idempotency-key": "cookie" },
      body: JSON.stringify({ reference: "cookie", asset: "USD", amount: "1" }),
    }).then(({ status }) => status)`);
    expect(written).toBe(401);
    const stream = await ada.page.evaluate(`new Promise((resolve) => {
      const socket = new WebSocket(location.origin.replace("http", "ws") + "/v1/stream");
      socket.onopen = () => resolve("opened");
      socket.onerror = () => resolve("refused");
    })`);
    expect(stream).toBe("refused");
    await ada.close();
  });

  it("is not used by pages of other origins", async () => {
    const ada = await running().join(owner, "admin");
    const before = await transactionsOf();
    for (const from of [site.otherSite, site.sameSite]) {
      const tab = await ada.context.newPage();
      await tab.goto(from);
      const seen = await tab.evaluate(`(${attack})(${JSON.stringify(running().origin)})`);
      expect([from, seen]).toEqual([from, Array(8).fill("nothing")]);
      await tab.close();
      for (const path of ["/console/session/token", "/console/session", "/v1/transactions"]) {
        const posting = await ada.context.newPage();
        await posting.goto(from);
        const answered = posting.waitForResponse((response) => response.url().endsWith(path));
        await posting.evaluate(`(${postForm})(${JSON.stringify(running().origin + path)})`);
        // A page that is closed while its new document arrives sometimes never closes.
        await posting.waitForURL(running().origin + path);
        // Forms have no token, and types of content that the service does not read.
        expect([path, (await answered).status()]).toEqual([path, path.startsWith("/v1") ? 401 : 415]);
        await posting.close();
      }
    }
    expect(await transactionsOf()).toBe(before);
    await ada.open("/wallets");
    expect(await ada.page.title()).toBe("Wallets · Bursar");
    await ada.close();
  });

  it("is not shown inside other pages, which also do not keep a hold of its window", async () => {
    const ada = await running().join(owner, "viewer");
    const tab = await ada.context.newPage();
    await tab.goto(site.sameSite);
    await tab.evaluate(`(${embed})(${JSON.stringify(running().origin)})`);
    const frame = tab.frames().find((one) => one !== tab.mainFrame());
    expect(await frame?.locator("#root").count()).toBe(0);
    const [opened] = await Promise.all([
      ada.context.waitForEvent("page"),
      tab.evaluate(`{ globalThis.held = open(${JSON.stringify(`${running().origin}/console`)}); }`),
    ]);
    await opened.locator("[data-page-title]").waitFor();
    expect(await opened.evaluate("opener === null")).toBe(true);
    expect(await tab.evaluate("globalThis.held.closed")).toBe(true);
    await ada.close();
  });

  /** A page on another port may ask for passkeys of the same name; what it gets says where it was asked. */
  it("is not logged in with an assertion that another origin has obtained", async () => {
    const ada = await running().join(owner, "viewer");
    const { service, origin } = running();
    const login = async (from: string) => {
      await ada.page.goto(from);
      const { body } = await callConsole(service, "POST", "/challenge");
      const given = await ada.page.evaluate(`(${assertPasskey})(${JSON.stringify(body["challenge"])})`);
      return { given, ...(await callConsole(service, "POST", "", given)) };
    };
    expect(await login(site.sameSite)).toMatchObject({ status: 403, code: "PASSKEY_INVALID" });
    const own = await login(`${origin}/console`);
    expect(own.status).toBe(201);
    expect(await callConsole(service, "POST", "", own.given)).toMatchObject({ code: "PASSKEY_INVALID" });
    await ada.page.goto(site.otherSite);
    await expect(ada.page.evaluate(`(${assertPasskey})("AAAA")`)).rejects.toThrow(/SecurityError/);
    await ada.close();
  });

  it("learns what to do under an IP address, for which there are no passkeys", async () => {
    const ada = await running().visit();
    await ada.page.goto(`${running().service.url}/console`);
    await ada.page.getByRole("button", { name: "Log in with a passkey" }).click();
    await ada.page.getByText("open this page under localhost").waitFor();
    await ada.close();
  });

  const transactionsOf = async () => {
    const { service } = running();
    const answer = await service.call("GET", "/v1/transactions", await service.token(owner));
    return ((await answer.json()) as { data: unknown[] }).data.length;
  };
});

/** Runs in a page of another origin, and says of each request what the page learned. */
const attack = `async (target) => {
  const json = { "content-type": "application/json" };
  const payment = JSON.stringify({ reference: "foreign", asset: "USD", amount: "1" });
  const requests = [
    ["POST", "/console/session/token", { credentials: "include" }],
    ["POST", "/console/session/token", { credentials: "include", mode: "no-cors" }],
    ["DELETE", "/console/session", { credentials: "include" }],
    ["POST", "/console/session/challenge", { credentials: "include" }],
    ["POST", "/v1/transactions", { credentials: "include", headers: json, body: payment }],
    ["POST", "/v1/transactions", { credentials: "include", mode: "no-cors", body: payment }],
    ["GET", "/v1/me", { credentials: "include" }],
    ["GET", "/v1/wallets", { credentials: "include", mode: "no-cors" }],
  ];
  return Promise.all(requests.map(async ([method, path, init]) => {
    try {
      const answer = await fetch(target + path, { method, ...init });
      return answer.type === "opaque" ? "nothing" : path + " " + answer.status;
    } catch {
      return "nothing";
    }
  }));
}`;

const postForm = `(target) => {
  const form = document.createElement("form");
  form.method = "POST";
  form.action = target;
  document.body.append(form);
  form.submit();
}`;

const embed = `async (target) => {
  const frame = document.createElement("iframe");
  frame.src = target + "/console";
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
  document.body.append(frame);
  await loaded;
}`;

const assertPasskey = `async (challenge) => {
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const { id, response } = await navigator.credentials.get({
    publicKey: { challenge: bytes(challenge), rpId: "localhost", userVerification: "required" },
  });
  return {
    id,
    client_data: text(response.clientDataJSON),
    authenticator_data: text(response.authenticatorData),
    signature: text(response.signature),
    user_handle: text(response.userHandle),
  };
}`;
