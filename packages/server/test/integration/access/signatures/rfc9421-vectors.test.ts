import { createHmac, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { describe, expect, it } from "vitest";

describe("the deterministic vectors of RFC 9421", () => {
  const base25 =
    '"date": Tue, 20 Apr 2021 02:07:55 GMT\n"@authority": example.com\n"content-type": application/json\n' +
    '"@signature-params": ("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"';
  const base26 =
    '"date": Tue, 20 Apr 2021 02:07:55 GMT\n"@method": POST\n"@path": /foo\n"@authority": example.com\n' +
    '"content-type": application/json\n"content-length": 18\n' +
    '"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"';

  it("B.2.5, HMAC-SHA-256", () => {
    const secret = Buffer.from(
      "uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==",
      "base64",
    );
    expect(createHmac("sha256", secret).update(base25).digest("base64")).toBe(
      "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=",
    );
  });

  it("B.2.6, Ed25519", () => {
    const key = createPrivateKey({
      key: Buffer.from("MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF", "base64"),
      format: "der",
      type: "pkcs8",
    });
    const signature = sign(null, Buffer.from(base26), key);
    expect(signature.toString("base64")).toBe(
      "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
    );
    expect(verify(null, Buffer.from(base26), createPublicKey(key), signature)).toBe(true);
  });
});
