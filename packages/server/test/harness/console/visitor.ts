import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from "playwright-core";

export interface VisitorOptions {
  name?: string;
  context?: BrowserContextOptions;
}

/** A browser context with a passkey of its own, which is used without asking. */
export interface Visitor {
  context: BrowserContext;
  page: Page;
  cdp: CDPSession;
  /** That of the device which has the passkeys. */
  authenticatorId: string;
  /** What a page must never do: errors and warnings on its console, violations of its policy, requests to other origins. */
  faults: string[];
  /** What the page has asked the service to change, such as `POST /v1/wallets`, in order. */
  changes: string[];
  /** Opens an invitation and creates a passkey; the person is logged in afterwards. */
  accept: (invitation: string) => Promise<void>;
  logIn: () => Promise<void>;
  /** An access token of the session. */
  token: () => Promise<string>;
  /** Opens an address below `/console` and waits until its page has a heading. */
  open: (path: string) => Promise<void>;
  close: () => Promise<void>;
}

const authenticator = {
  protocol: "ctap2",
  transport: "internal",
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

/** A violation of the policy is an event of the document; as a message it is seen like every other error. */
const reportViolations = `document.addEventListener("securitypolicyviolation", (event) => {
  console.error("policy: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample);
});`;

export async function openVisitor(
  browser: Browser,
  origin: string,
  { context: own = {} }: VisitorOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({ baseURL: origin, ...own });
  context.setDefaultTimeout(120_000);
  await context.addInitScript(reportViolations);
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", { options: authenticator });
  const faults = watch(page, origin);
  const changes = watchChanges(page);
  const arrived = () => page.locator("[data-page-title]").first().waitFor();
  return {
    context,
    page,
    cdp,
    authenticatorId,
    faults,
    changes,
    accept: async (invitation) => {
      await page.goto(invitation);
      await page.getByRole("button", { name: "Create a passkey" }).click();
      await arrived();
      // A page that is not logged in asks for a token once, which is refused.
      faults.splice(0);
    },
    logIn: async () => {
      await page.getByRole("button", { name: "Log in with a passkey" }).click();
      await arrived();
    },
    token: async () => {
      const { access_token } = (await page.evaluate(
        `fetch("/console/session/token", { method: "POST" }).then((answer) => answer.json())`,
      )) as { access_token: string };
      return access_token;
    },
    open: async (path) => {
      await page.goto(`${origin}/console${path === "/" ? "" : path}`);
      await arrived();
    },
    close: () => context.close(),
  };
}

/**
 * The device of `to` has the passkeys of `from` alone, as if that person sat at it, until the function is called that is returned. They go
 * back with their counters, which the service does not accept twice.
 */
export async function takePasskeyOf(from: Visitor, to: Visitor): Promise<() => Promise<void>> {
  const read = ({ cdp, authenticatorId }: Visitor) =>
    cdp.send("WebAuthn.getCredentials", { authenticatorId });
  const write = async (
    { cdp, authenticatorId }: Visitor,
    credentials: Awaited<ReturnType<typeof read>>["credentials"],
  ) => {
    await cdp.send("WebAuthn.clearCredentials", { authenticatorId });
    for (const credential of credentials)
      await cdp.send("WebAuthn.addCredential", { authenticatorId, credential });
  };
  const own = (await read(to)).credentials;
  await write(to, (await read(from)).credentials);
  return async () => {
    await write(from, (await read(to)).credentials);
    await write(to, own);
  };
}

function watch(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`exception: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const { protocol, origin: target } = new URL(request.url());
    const isOwn = target === origin || protocol === "data:" || request.url().startsWith(`blob:${origin}`);
    if (!isOwn) faults.push(`request: ${request.url()}`);
  });
  page.on("websocket", (socket) => {
    if (new URL(socket.url()).host !== new URL(origin).host) faults.push(`socket: ${socket.url()}`);
  });
  return faults;
}

/** Requests that change nothing, but open a stream. */
const ticketPath = "/v1/stream/tickets";

function watchChanges(page: Page): string[] {
  const changes: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() !== "GET" && pathname.startsWith("/v1/") && pathname !== ticketPath)
      changes.push(`${request.method()} ${pathname}`);
  });
  return changes;
}
