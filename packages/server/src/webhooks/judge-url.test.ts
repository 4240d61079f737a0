import { describe, expect, it } from "vitest";
import { readPrivateNetworks } from "./judge-address.js";
import { createUrlJudge } from "./judge-url.js";

const rules = {
  isLoopbackAllowed: false,
  areLiteralsAllowed: false,
  privateNetworks: readPrivateNetworks([]),
};
const strict = createUrlJudge(rules);
const sandbox = createUrlJudge({ ...rules, isLoopbackAllowed: true });
const literals = createUrlJudge({ ...rules, areLiteralsAllowed: true });

describe("the URL of a receiver", () => {
  it.each([
    "https://receiver.example.com",
    "https://receiver.example.com/hooks?tenant=7",
    "https://receiver.example.com:443/",
    "https://receiver.example.com:8443/",
    "https://bücher.example.com/",
    "https://xn--bcher-kva.example.com/",
    "https://notlocalhost.com/",
    "https://1.example.com/",
  ])("may be %s", (url) => {
    expect(strict(url)).toEqual({ ok: true });
  });

  it.each([
    ["", "it is no URL"],
    ["receiver.example.com", "it is no URL"],
    ["https://", "it is no URL"],
    ["https://exa mple.com/", "it has characters that no URL has"],
    [" https://example.com/", "it has characters that no URL has"],
    ["https://exam\nple.com/", "it has characters that no URL has"],
    ["https:\\\\example.com\\", "it has characters that no URL has"],
    ["https://exam\u00adple.com/", "it has characters that no URL has"],
    ["https://exam\u200bple.com/", "it has characters that no URL has"],
    ["http://example.com/", "it must begin with https://"],
    ["ftp://example.com/", "it must begin with https://"],
    ["file:///etc/passwd", "it must begin with https://"],
    ["gopher://example.com/", "it must begin with https://"],
    ["data:text/plain,hello", "it must begin with https://"],
    ["javascript:alert(1)", "it must begin with https://"],
    ["https://user@example.com/", "it has credentials in it"],
    ["https://user:password@example.com/", "it has credentials in it"],
    ["https://:@example.com/", "it has credentials in it"],
    ["https://@example.com/", "it has credentials in it"],
    ["https://example.com/#part", "it has a fragment, which is never sent"],
    ["https://example.com:22/", "its port must be 443, or 1024 or higher"],
    ["https://example.com:0/", "its port must be 443, or 1024 or higher"],
    ["https://example.com./", "its host ends with a dot"],
    ["https://localhost/", "its host is not a full name"],
    ["https://intranet/", "its host is not a full name"],
    ["https://app.localhost/", "names under localhost are not public"],
    ["https://printer.local/", "names under local are not public"],
    ["https://metadata.google.internal/", "names under internal are not public"],
    ["https://router.home.arpa/", "names under home.arpa are not public"],
    ["https://8.8.8.8/", "it has an IP address instead of a host name"],
    ["https://[2606:4700::1111]/", "it has an IP address instead of a host name"],
    ["https://0x8.8.8.8/", "it has an IP address instead of a host name"],
    ["https://134744072/", "it has an IP address instead of a host name"],
    ["https://①②⑦.⓪.⓪.①/", "it has an IP address instead of a host name"],
    [`https://example.com/${"a".repeat(2048)}`, "it is longer than 2048 characters"],
  ])("may not be %s", (url, reason) => {
    expect(strict(url)).toEqual({ ok: false, reason });
  });

  it.each([
    "http://127.0.0.1:9000/",
    "http://localhost:9000/hooks",
    "http://[::1]:9000/",
    "https://127.0.0.1:9000/",
    "http://127.1:9000/",
  ])("may be %s in the sandbox only", (url) => {
    expect(sandbox(url)).toEqual({ ok: true });
    expect(strict(url).ok).toBe(false);
    expect(literals(url).ok).toBe(false);
  });

  it.each([
    "http://example.com/",
    "http://10.0.0.1/",
    "https://10.0.0.1/",
    "http://0.0.0.0:9000/",
    "http://[::ffff:127.0.0.1]:9000/",
    "http://localhost.example.com/",
    "http://app.localhost:9000/",
    "http://localhost.:9000/",
    "ftp://127.0.0.1/",
    "http://user@127.0.0.1:9000/",
  ])("may not be %s in the sandbox either", (url) => {
    expect(sandbox(url).ok).toBe(false);
  });

  it("may have a public address if addresses are allowed, and no other", () => {
    expect(literals("https://8.8.8.8/")).toEqual({ ok: true });
    expect(literals("https://[2606:4700::1111]/")).toEqual({ ok: true });
    expect(literals("https://10.0.0.1/")).toEqual({
      ok: false,
      reason: "its address is not public but private",
    });
    expect(literals("https://[::ffff:8.8.8.8]/").ok).toBe(false);
  });

  it("may be internal if the operator has allowed a private network", () => {
    const inside = { ...rules, privateNetworks: readPrivateNetworks(["10.0.0.0/8"]) };
    expect(createUrlJudge(inside)("https://hooks.corp/")).toEqual({ ok: true });
    expect(createUrlJudge(inside)("https://10.0.0.1/").ok).toBe(false);
    expect(createUrlJudge(inside)("http://hooks.corp/").ok).toBe(false);
    expect(createUrlJudge(inside)("https://app.localhost/").ok).toBe(false);
    const withLiterals = createUrlJudge({ ...inside, areLiteralsAllowed: true });
    expect(withLiterals("https://10.0.0.1/")).toEqual({ ok: true });
    expect(withLiterals("https://192.168.0.1/").ok).toBe(false);
    expect(withLiterals("https://127.0.0.1/").ok).toBe(false);
  });
});
