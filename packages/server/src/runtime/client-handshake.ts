import { constants } from "node:crypto";

/**
 * What a server that is not trusted with this process may choose for a handshake, which runs in the event loop. Left to the
 * defaults, it can ask for Diffie-Hellman with 10,000 bits, which took 3.6 s, and for the group ffdhe8192 of TLS 1.3, 0.6 s; and it can ask for
 * another handshake at any time.
 */
export const clientHandshake = {
  minVersion: "TLSv1.2",
  ciphers: [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
  ].join(":"),
  ecdhCurve: "X25519:P-256:P-384",
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;
