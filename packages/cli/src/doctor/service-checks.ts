import { isIP } from "node:net";
import { connect } from "node:tls";
import type { Bursar } from "@bursar/client";
import type { Context } from "../commands/command.js";
import { CliError } from "../exit-codes.js";
import { isLocal, type Target } from "../profiles/target.js";
import { version } from "../version.js";
import { checkEndpoints } from "./endpoint-check.js";
import { explain, type Finding, finding } from "./finding.js";

const timeoutMs = 10_000;
/** Signed requests and client assertions are refused if the clocks differ by more. */
const skewSecondsMax = 60;
const skewSecondsWarned = 5;
const daysWarned = 14;
const dayMs = 86_400_000;

/** Everything that can be seen from outside. What depends on something that has failed is left out. */
export async function* checkService(context: Context): AsyncGenerator<Finding> {
  let target: Target;
  try {
    target = await context.target();
  } catch (error) {
    const found = error instanceof CliError ? error.message : explain(error);
    yield {
      check: "profile",
      state: "failed",
      found,
      advice: "Start the sandbox, or add a profile with `bursar profile add`.",
    };
    return;
  }
  const { url, name, clientId } = target;
  const { signal } = context.io;
  const isToken = typeof target.credentials === "function";
  const place = `${isToken ? "BURSAR_TOKEN" : clientId} at ${url}`;
  yield { check: "profile", state: "ok", found: name === url ? place : `${name}: ${place}` };
  const { answer, ...address } = await checkAddress(target, signal);
  yield address;
  yield await checkTls(url);
  if (answer === undefined) return;
  yield checkClock(answer, context.io.now());
  yield checkVersion(answer);
  yield await finding(
    "readiness",
    () => checkReadiness(url, signal),
    "Look at the log of the service, and at its database.",
  );
  const bursar = await context.bursar();
  const token = await finding(
    "token",
    async () => {
      const { token: issued } = await bursar.me.get();
      return { state: "ok" as const, found: `valid until ${issued.expires_at}` };
    },
    isToken
      ? "The token in BURSAR_TOKEN is wrong or has expired: `bursar token` prints a new one."
      : "Check the client id and the secret of the profile, and that the client is not disabled.",
  );
  yield token;
  if (token.state === "failed") return;
  yield await checkScopes(bursar);
  yield await checkStream(bursar);
  yield await checkEndpoints(bursar);
}

async function checkAddress(
  { url, name }: Target,
  signal: AbortSignal,
): Promise<Finding & { answer?: Response }> {
  const startedAt = performance.now();
  try {
    const answer = await fetch(`${url}/healthz`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      redirect: "manual",
    });
    const body = (await answer.json().catch(() => ({}))) as { status?: unknown };
    const found = `answers in ${Math.round(performance.now() - startedAt)} ms`;
    if (answer.status === 200 && body.status === "alive")
      return { check: "address", state: "ok", found, answer };
    return {
      check: "address",
      state: "failed",
      found: `${found}, with the status ${answer.status}, but not as Bursar does`,
      advice: "Correct the address of the profile; something else listens there.",
    };
  } catch (error) {
    return {
      check: "address",
      state: "failed",
      found: explain(error),
      advice:
        name === "sandbox"
          ? "Is `npm start` running? The sandbox writes its address when it starts."
          : "Check the address, that the service runs, and that no firewall is in between.",
    };
  }
}

async function checkTls(url: string): Promise<Finding> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol === "http:")
    return isLocal(url)
      ? { check: "tls", state: "skipped", found: "not needed on this machine" }
      : {
          check: "tls",
          state: "warning",
          found: "the connection is not encrypted",
          advice: "Put a proxy with TLS in front of the service, and use its https address.",
        };
  const host = hostname.replace(/^\[|\]$/g, "");
  return await finding(
    "tls",
    () =>
      new Promise((resolve, reject) => {
        const socket = connect(
          // The name of the server cannot be an address.
          {
            host,
            port: Number(port || 443),
            timeout: timeoutMs,
            ...(isIP(host) === 0 ? { servername: host } : {}),
          },
          () => {
            const { valid_to: validTo } = socket.getPeerCertificate();
            const days = Math.floor((Date.parse(validTo) - Date.now()) / dayMs);
            const found = `${socket.getProtocol()}, certificate valid for ${days} days`;
            socket.destroy();
            resolve(
              days > daysWarned
                ? { state: "ok", found }
                : { state: "warning", found, advice: "Renew the certificate." },
            );
          },
        );
        socket.once("error", (error: NodeJS.ErrnoException) => {
          const fault = faultOfTls(error);
          if (fault === undefined) reject(error);
          else resolve(fault);
        });
        socket.once("timeout", () => socket.destroy(new Error("no answer in time")));
      }),
    "Install a certificate that names this host and is signed by a known authority.",
  );
}

/** OpenSSL's own sentences name its source files. Undefined for what is wrong with the certificate. */
function faultOfTls({ code = "" }: NodeJS.ErrnoException): Omit<Finding, "check"> | undefined {
  if (/^(ERR_SSL_|EPROTO$|ECONNRESET$)/.test(code))
    return {
      state: "failed",
      found: `the server does not answer with TLS on this port (${code})`,
      advice: "Check the address: it may be an http address, or the port of another service.",
    };
  if (/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/.test(code))
    return { state: "skipped", found: `no connection (${code})` };
  return undefined;
}

function checkClock(answer: Response, now: Date): Finding {
  const date = answer.headers.get("date");
  if (date === null) return { check: "clock", state: "skipped", found: "the service sends no Date" };
  const skew = Math.round((now.getTime() - Date.parse(date)) / 1000);
  const found =
    skew === 0
      ? "equals that of the service"
      : `${Math.abs(skew)} s ${skew > 0 ? "ahead of" : "behind"} the service`;
  if (Math.abs(skew) <= skewSecondsWarned) return { check: "clock", state: "ok", found };
  const state = Math.abs(skew) > skewSecondsMax ? "failed" : "warning";
  return {
    check: "clock",
    state,
    found,
    advice: "Synchronise the clocks with NTP: signed requests and webhooks carry the time.",
  };
}

/** Every response names the version of the contract that the service implements. */
function checkVersion(answer: Response): Finding {
  const served = answer.headers.get("bursar-version");
  if (served === null)
    return {
      check: "version",
      state: "warning",
      found: "the service does not name its version",
      advice: "Check the address.",
    };
  if (served === version) return { check: "version", state: "ok", found: version };
  return {
    check: "version",
    state: "warning",
    found: `the service implements ${served}, and this is ${version}`,
    advice: "Install the version of the service; the changelog says what differs.",
  };
}

async function checkReadiness(url: string, signal: AbortSignal): Promise<Omit<Finding, "check">> {
  const answer = await fetch(`${url}/readyz`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  const { checks = {} } = (await answer.json().catch(() => ({}))) as { checks?: Record<string, unknown> };
  const found = Object.entries(checks).map(
    ([name, state]) => `${name} ${typeof state === "string" ? state : JSON.stringify(state)}`,
  );
  if (answer.status !== 200)
    throw new Error(`status ${answer.status}${found.length === 0 ? "" : `: ${found.join(", ")}`}`);
  return { state: "ok", found: found.join(", ") || "ready" };
}

function checkScopes(bursar: Bursar): Promise<Finding> {
  return finding(
    "scopes",
    async () => {
      const { client, token } = await bursar.me.get();
      const missing = client.scopes.filter((scope) => !token.scopes.includes(scope));
      return missing.length === 0
        ? { state: "ok", found: token.scopes.join(" ") }
        : {
            state: "warning",
            found: `the token lacks ${missing.join(" ")}`,
            advice: "Request the token without --scope.",
          };
    },
    "Check the credentials.",
  );
}

/** The last event must come over the stream. */
function checkStream(bursar: Bursar): Promise<Finding> {
  return finding(
    "stream",
    async () => {
      const { token } = await bursar.me.get();
      if (!token.scopes.includes("events:read"))
        return { state: "skipped", found: "the token lacks events:read" };
      const { latest_sequence: latest } = await bursar.events.list({ order: "desc", limit: 1 }).page();
      if (latest === 0) {
        await bursar.service.streamTicket();
        return { state: "ok", found: "a ticket was issued; there are no events yet" };
      }
      const startedAt = performance.now();
      for await (const found of bursar.events.follow({
        since: latest - 1,
        signal: AbortSignal.timeout(timeoutMs),
      }))
        if (found.type === "event")
          return {
            state: "ok",
            found: `event ${found.sequence} in ${Math.round(performance.now() - startedAt)} ms`,
          };
      throw new Error("no event came in time");
    },
    "Proxies must pass WebSocket upgrades of /v1/stream. On Node 20, the package ws is needed.",
  );
}
